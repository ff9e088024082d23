#include "framework/optim/optimizer.h"

#include <algorithm>

#include "framework/core/error.h"

namespace gradus {

Optimizer::Optimizer(const std::vector<Tensor>& parameters) {
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
}

void Optimizer::zero_grad() const {
  for (const Tensor& parameter : parameters_) {
    if (parameter.requires_grad()) parameter.zero_grad();  // one may be frozen by now
  }
}

}  // namespace gradus
