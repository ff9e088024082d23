// Properties: families of ops, each op drawn with random inputs again and again, and compared with
// the reference and, where it is smooth, with finite differences. All follows from one seed.
//
//     GRADUS_PROPERTY_SEED=7           another seed than the usual one
//     GRADUS_PROPERTY_ONLY=reduce/123  one instance alone, as a failure names it
//     GRADUS_PROPERTY_INSTANCES=2000   of all families together; 20,000 unless set, or 4,000 in
//                                      builds with sanitizers or without optimisation
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"
#include "tests/properties/random_tensors.h"
#include "tests/support/catch.h"

namespace gradus::testing {

using Tensors = std::vector<Tensor>;

/// One call of an op, and what must come of it.
class Instance {
 public:
  /// Draws an input; the function finds it at the place of its drawing.
  Input add(const Input& input);
  /// What else there is to know of the call: "axes (0, 2), keepdim".
  std::string how{};
  std::function<Tensors(const Tensors&)> function{};
  /// False where a derivative is none, or may lie at a kink.
  bool smooth = true;

  /// A result, in the order of the function's.
  void expect(reference::Array want, DType dtype);

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<std::pair<reference::Array, DType>>& wanted() const { return wanted_; }

 private:
  std::vector<Input> inputs_;
  std::vector<std::pair<reference::Array, DType>> wanted_;
};

/// An op, and how to draw a call of it.
struct Property {
  std::string op;
  std::function<Instance(Random&)> draw;
};

/// Ops that are tested as one; the instances are shared out evenly among them.
class Family {
 public:
  /// `share` is the family's part of 20,000 instances.
  Family(std::string name, Index share, std::vector<Property> properties);
  /// Every instance agrees with the reference, and its gradients with finite differences.
  void check() const;

  const std::string& name() const { return name_; }
  Index share() const { return share_; }
  /// As many instances as are asked for.
  Index instances() const;

 private:
  std::string name_;
  Index share_;
  std::vector<Property> properties_;
};

/// All families, in the order of their names.
std::vector<const Family*> all_families();

}  // namespace gradus::testing
