#include "framework/optim/adam.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/core/memory.h"
#include "framework/kernels/table.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

/// What the moments of step t are divided by: they began at 0.
struct BiasCorrections {
  Index t;
  double first;
  double second;

  BiasCorrections(const AdamOptions& options, Index step)
      : t(step),
        first(1 - std::pow(options.beta1, static_cast<double>(step))),
        second(1 - std::pow(options.beta2, static_cast<double>(step))) {}
};

}  // namespace

Adam::Adam(const char* name, const ParameterGroups& parameters, const AdamOptions& options,
           bool decoupled)
    : Optimizer(parameters, options.lr),
      options_(options),
      weight_decay_(options.weight_decay.value_or(decoupled ? 1e-2 : 0.0)),
      decoupled_(decoupled) {
  const auto [lr, beta1, beta2, eps, given_decay, amsgrad] = options;
  const bool good =
      eps >= 0 && weight_decay_ >= 0 && beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1;
  if (!good) {
    throw ValueError(text(name, ": an option is outside its range"),
                     {.got = text("lr ", lr, ", beta1 ", beta1, ", beta2 ", beta2, ", eps ", eps,
                                  ", weight_decay ", weight_decay_),
                      .need = "betas in [0, 1), the others at least 0"});
  }
  for (const Tensor& parameter : this->parameters()) {
    moments_.push_back({.steps = zeros({}, int64),
                        .first = zeros_like(parameter),
                        .second = zeros_like(parameter),
                        .largest_second = amsgrad ? zeros_like(parameter) : Tensor()});
  }
}

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
// p -= lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
void Adam::step_all(std::span<const Update> updates) {
  std::vector<kernels::AdamUpdate, BlockAllocator<kernels::AdamUpdate>> list;
  list.reserve(updates.size());
  BiasCorrections corrections(options_, 0);
  for (const auto& [i, parameter, gradient] : updates) {
    const Moments& moments = moments_[i];
    const Index t = ++*static_cast<Index*>(moments.steps.raw());
    if (t != corrections.t) corrections = BiasCorrections(options_, t);
    const double decay = weight_decay_of(i, weight_decay_);
    const kernels::AdamStep step{.beta1 = options_.beta1,
                                 .beta2 = options_.beta2,
                                 .rate = lr_of(i) / corrections.first,
                                 .second_scale = 1 / std::sqrt(corrections.second),
                                 .eps = options_.eps,
                                 .gradient_decay = decoupled_ ? 0.0 : decay,
                                 .shrinkage = decoupled_ ? lr_of(i) * decay : 0.0};
    list.push_back({parameter.dtype(), parameter.numel(), step, parameter.raw(), gradient.raw(),
                    moments.first.raw(), moments.second.raw(),
                    launch::raw_or_null(moments.largest_second)});
  }
  kernels::table().adam(list.data(), std::ssize(list));
}

std::vector<Optimizer::Memory> Adam::memory_of(std::size_t i) const {
  const auto& [steps, first, second, largest_second] = moments_[i];
  std::vector<Memory> memory{{"step", steps}, {"exp_avg", first}, {"exp_avg_sq", second}};
  if (options_.amsgrad) memory.push_back({"max_exp_avg_sq", largest_second});
  return memory;
}

void Adam::remember(std::size_t i, const std::vector<Tensor>& memory) {
  moments_[i] = {memory[0], memory[1], memory[2], options_.amsgrad ? memory[3] : Tensor()};
}

}  // namespace gradus
