// The table of ops: one row per op and way of calling it. The rows drive op_table_test.cpp:
// gradients to second order, strided, sliced and expanded inputs, inputs without elements, float32.
// A new op needs a row here and its values by hand in tests/framework/ops; a test finds the op
// without one.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus::testing {

/// How the numbers of an input are drawn, and so how far they stay from where an op has a kink or a
/// pole: normal ones, ones of 0.5 to 2, the same of either sign, or ones at least 0.1 apart.
enum class Draw { normal, positive, away_from_zero, apart };

struct OpInput {
  Shape shape;
  Draw draw = Draw::normal;
};

struct OpRow {
  std::string name;  ///< of the step on the tape, or, for a composition, of the function
  std::string how;   ///< what sets this row apart from others of the name
  std::function<Tensor(const std::vector<Tensor>&)> function;
  std::vector<OpInput> inputs;      ///< floating, and all with a gradient
  std::vector<Shape> empty_inputs;  ///< shapes of inputs without elements, and of the result
  Shape empty_result;

  /// False for a cast, whose slope finite differences cannot see.
  bool smooth = true;
  /// False where the result is constant once all slices along the first axis are equal.
  bool expandable = true;
};

const std::vector<OpRow>& op_table();

/// The row's inputs, the same at every call; float64 and off the tape.
std::vector<Tensor> sample_inputs(const OpRow& row);
std::vector<Tensor> empty_inputs(const OpRow& row);

/// Adds the names of all steps by which `output` was computed; leaves are no steps.
void collect_steps(const Tensor& output, std::set<std::string>& names);

/// The names under which the sources in framework/ record steps. Throws std::runtime_error for a
/// source that hides one.
std::set<std::string> recorded_names();

}  // namespace gradus::testing
