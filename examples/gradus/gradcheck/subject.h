// Subject: something of the framework whose gradients can be checked by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/gradcheck/gradcheck_function.h"

namespace examples {

using gradus::Index;

/// What a subject is made with, as far as it has a meaning for it.
struct SubjectSizes {
  Index batch = 2;
  Index heads = 2;
  Index dim = 16;
  Index length = 6;
  bool causal = false;
};

/// A function and its inputs, parameters among them, in float64.
struct Checkable {
  gradus::GradcheckFunction function;
  std::vector<gradus::Tensor> inputs;
  std::vector<std::string> names;
};

struct Subject {
  std::string name;
  std::string meaning;
  /// Draws its numbers from the default generator. Throws ValueError for sizes that do not fit.
  std::function<Checkable(const SubjectSizes&)> make;
  bool is_right = true;  ///< false for one that is there to show a failing report
};

/// Ops, layers, models, and one that is broken on purpose, in this order.
const std::vector<Subject>& all_subjects();
/// Throws Failure that names the nearest one, where there is none of that name.
const Subject& find_subject(const std::string& name);

/// Throws Failure that names the nearest input and all there are, unless one is called `input`.
void check_has_input(const Checkable& subject, const std::string& input);

// ---- where they come from, each in a file of its own ----
std::vector<Subject> op_subjects();
std::vector<Subject> layer_subjects();
std::vector<Subject> model_subjects();
Subject broken_subject();

}  // namespace examples
