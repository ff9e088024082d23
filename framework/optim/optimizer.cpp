#include "framework/optim/optimizer.h"

#include <algorithm>

#include "framework/core/error.h"
#include "framework/ops/launch.h"

namespace gradus {

Optimizer::Optimizer(const std::vector<Tensor>& parameters, double lr) {
  if (parameters.empty()) throw ValueError("optimizer: no parameters to step");
  for (const Tensor& parameter : parameters) {
    if (!parameter.requires_grad() || !parameter.is_leaf()) {
      throw AutogradError("optimizer: a parameter must be a leaf that requires a gradient",
                          {.got = text(parameter.shape(), " ", parameter.dtype())});
    }
    const bool seen = std::any_of(parameters_.begin(), parameters_.end(),
                                  [&](const Tensor& known) { return known.is_same(parameter); });
    if (!seen) parameters_.push_back(parameter);
  }
  set_lr(lr);
}

void Optimizer::set_lr(double lr) {
  if (!(lr >= 0)) throw ValueError(text("optimizer: needs an lr of at least 0, not ", lr));
  lr_ = lr;
}

void Optimizer::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const Tensor packed = launch::packed(parameter);
    step_one(i, packed, launch::packed(gradient));
    if (!packed.is_same(parameter)) launch::copy_into(parameter, packed);
    parameter.mark_changed("optimizer step");
  }
}

void Optimizer::zero_grad() const {
  for (const Tensor& parameter : parameters_) {
    if (parameter.requires_grad()) parameter.zero_grad();
  }
}

}  // namespace gradus
