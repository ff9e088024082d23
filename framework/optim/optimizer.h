// Optimizer: what all optimisers share: parameters, a learning rate, and a step that changes the
// parameters in place, off the tape.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

class Optimizer {
 public:
  /// A parameter listed twice is stepped once. Throws ValueError for an empty list or a rate below
  /// 0, and AutogradError for a tensor that is no leaf that requires a gradient.
  Optimizer(const std::vector<Tensor>& parameters, double lr);
  virtual ~Optimizer() = default;

  /// Changes every parameter that has a gradient.
  void step();
  /// Drops every gradient; call it before backward().
  void zero_grad() const;
  const std::vector<Tensor>& parameters() const { return parameters_; }

  double lr() const { return lr_; }
  /// Throws ValueError for a rate below 0.
  void set_lr(double lr);

 protected:
  /// Steps parameter i, given row-major without gaps, as its gradient is. (A parameter with gaps is
  /// copied here and back.)
  virtual void step_one(std::size_t i, const Tensor& parameter, const Tensor& gradient) = 0;

 private:
  std::vector<Tensor> parameters_;
  double lr_ = 0.0;
};

}  // namespace gradus
