// Stochastic gradient descent.
#pragma once

#include "framework/optim/optimizer.h"

namespace gradus {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0.0;
  /// Share of each new gradient that is left out of the momentum, after the first. Of no effect
  /// without momentum.
  double dampening = 0.0;
  /// Added to the gradient, times the parameter.
  double weight_decay = 0.0;
  /// Looks ahead along the momentum (Sutskever et al., 2013); needs momentum and no dampening.
  bool nesterov = false;
};

/// p -= lr * (momentum's running sum of gradients), as torch.optim.SGD has it.
class SGD : public Optimizer {
 public:
  /// Takes parameters, or groups of them. Throws ValueError for options outside their range.
  explicit SGD(const ParameterGroups& parameters, const SGDOptions& options = {});

 private:
  void step_all(std::span<const Update> updates) override;
  std::vector<Memory> memory_of(std::size_t i) const override;
  void remember(std::size_t i, const std::vector<Tensor>& memory) override;

  SGDOptions options_;
  std::vector<Tensor> momentum_;  // one per parameter, undefined before its first gradient
};

}  // namespace gradus
