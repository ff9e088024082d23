#include "framework/optim/sgd.h"

#include "framework/core/error.h"
#include "framework/core/memory.h"
#include "framework/kernels/table.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"

namespace gradus {

SGD::SGD(const ParameterGroups& parameters, const SGDOptions& options)
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

// b = momentum b + (1 - dampening) g, and b = g the first time;
// p -= lr b, or lr (g + momentum b); without momentum p -= lr g
void SGD::step_all(std::span<const Update> updates) {
  std::vector<kernels::SgdUpdate, BlockAllocator<kernels::SgdUpdate>> list;
  list.reserve(updates.size());
  for (const auto& [i, parameter, gradient] : updates) {
    const bool is_first = !momentum_[i].defined();
    if (is_first && options_.momentum > 0) momentum_[i] = zeros_like(parameter);
    const kernels::SgdStep step{.rate = lr_of(i),
                                .momentum = options_.momentum,
                                .new_share = is_first ? 1.0 : 1 - options_.dampening,
                                .weight_decay = weight_decay_of(i, options_.weight_decay),
                                .nesterov = options_.nesterov};
    list.push_back({parameter.dtype(), parameter.numel(), step, parameter.raw(), gradient.raw(),
                    launch::raw_or_null(momentum_[i])});
  }
  kernels::table().sgd(list.data(), std::ssize(list));
}

std::vector<Optimizer::Memory> SGD::memory_of(std::size_t i) const {
  if (options_.momentum == 0) return {};
  return {{.name = "momentum_buffer", .tensor = momentum_[i], .begins_late = true}};
}

void SGD::remember(std::size_t i, const std::vector<Tensor>& memory) {
  if (!memory.empty()) momentum_[i] = memory[0];
}

}  // namespace gradus
