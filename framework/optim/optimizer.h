// Optimizer: what all optimisers share, a list of parameters and a step that changes them in place.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

class Optimizer {
 public:
  /// A parameter listed twice is stepped once. Throws ValueError for an empty list, and
  /// AutogradError for a tensor that is no leaf that requires a gradient.
  explicit Optimizer(const std::vector<Tensor>& parameters);
  virtual ~Optimizer() = default;

  /// Changes every parameter that has a gradient.
  virtual void step() = 0;
  /// Drops every gradient; call it before backward().
  void zero_grad() const;
  const std::vector<Tensor>& parameters() const { return parameters_; }

 protected:
  std::vector<Tensor> parameters_;
};

}  // namespace gradus
