#include "framework/optim/sgd.h"

#include "framework/core/error.h"
#include "framework/kernels/table.h"
#include "framework/ops/creation.h"

namespace gradus {

SGD::SGD(const std::vector<Tensor>& parameters, const SGDOptions& options)
    : Optimizer(parameters, options.lr), options_(options), momentum_(this->parameters().size()) {
  const auto [lr, momentum, dampening, weight_decay, nesterov] = options;
  if (!(momentum >= 0 && dampening >= 0 && dampening <= 1 && weight_decay >= 0)) {
    throw ValueError("SGD: an option is outside its range",
                     {.got = text("momentum ", momentum, ", dampening ", dampening,
                                  ", weight_decay ", weight_decay),
                      .need = "dampening in [0, 1], the others at least 0"});
  }
  if (nesterov && (momentum == 0 || dampening != 0)) {
    throw ValueError("SGD: nesterov needs a momentum, and no dampening",
                     {.got = text("momentum ", momentum, ", dampening ", dampening)});
  }
}

// b = momentum b + (1 - dampening) g, and b = g the first time;  p -= lr b, or lr (g + momentum b)
void SGD::step_one(std::size_t i, const Tensor& parameter, const Tensor& gradient) {
  const bool first = !momentum_[i].defined();
  if (first) momentum_[i] = zeros_like(parameter);
  kernels::table().sgd(parameter.dtype(), parameter.numel(),
                       {.rate = lr(),
                        .momentum = options_.momentum,
                        .new_share = first ? 1.0 : 1 - options_.dampening,
                        .weight_decay = options_.weight_decay,
                        .nesterov = options_.nesterov},
                       parameter.raw(), gradient.raw(), momentum_[i].raw());
}

}  // namespace gradus
