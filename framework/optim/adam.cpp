#include "framework/optim/adam.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/kernels/table.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"

namespace gradus {

Adam::Adam(const std::vector<Tensor>& parameters, const AdamOptions& options)
    : Optimizer(parameters), options_(options) {
  const auto [lr, beta1, beta2, eps, weight_decay] = options;
  const bool good = lr >= 0 && eps >= 0 && weight_decay >= 0 && beta1 >= 0 && beta1 < 1 &&
                    beta2 >= 0 && beta2 < 1;
  if (!good) {
    throw ValueError("Adam: an option is outside its range",
                     {.got = text("lr ", lr, ", beta1 ", beta1, ", beta2 ", beta2, ", eps ", eps,
                                  ", weight_decay ", weight_decay),
                      .need = "betas in [0, 1), the others at least 0"});
  }
  for (const Tensor& parameter : parameters_) {
    moments_.push_back({.first = zeros_like(parameter), .second = zeros_like(parameter)});
  }
}

void Adam::set_lr(double lr) {
  if (!(lr >= 0)) throw ValueError(text("Adam: needs an lr of at least 0, not ", lr));
  options_.lr = lr;
}

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
// p -= lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
void Adam::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    auto& [first, second, steps] = moments_[i];
    const double t = static_cast<double>(++steps);
    const kernels::AdamStep step{.beta1 = options_.beta1,
                                 .beta2 = options_.beta2,
                                 .rate = options_.lr / (1 - std::pow(options_.beta1, t)),
                                 .second_scale = 1 / std::sqrt(1 - std::pow(options_.beta2, t)),
                                 .eps = options_.eps,
                                 .weight_decay = options_.weight_decay};
    const Tensor packed = launch::packed(parameter);  // a copy, where the parameter has gaps
    kernels::table().adam(parameter.dtype(), parameter.numel(), step, packed.raw(),
                          launch::packed(gradient).raw(), first.raw(), second.raw());
    if (!packed.is_same(parameter)) launch::copy_into(parameter, packed);
    parameter.mark_changed("Adam::step");
  }
}

}  // namespace gradus
