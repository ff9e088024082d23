// Adam and AdamW.
#pragma once

#include <optional>

#include "framework/optim/optimizer.h"

namespace gradus {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  /// Adam: added to the gradient, times the parameter; 0 unless given. AdamW: shrinks the parameter
  /// by lr times this; 0.01 unless given, as in torch.optim.
  std::optional<double> weight_decay{};
  /// Divides by the largest second moment so far (Reddi, Kale, Kumar, 2018).
  bool amsgrad = false;
};

/// Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1; each parameter
/// counts its own steps. weight_decay is an L2 penalty, as in torch.optim.Adam.
class Adam : public Optimizer {
 public:
  /// Takes parameters, or groups of them. Throws ValueError for options outside their range.
  explicit Adam(const ParameterGroups& parameters, const AdamOptions& options = {})
      : Adam("Adam", parameters, options, false) {}

 protected:
  Adam(const char* name, const ParameterGroups& parameters, const AdamOptions& options,
       bool decoupled);

 private:
  struct Moments {
    Tensor steps;  // (), int64
    Tensor first;
    Tensor second;
    Tensor largest_second;  // with amsgrad only
  };

  void step_all(std::span<const Update> updates) override;
  std::vector<Memory> memory_of(std::size_t i) const override;
  void remember(std::size_t i, const std::vector<Tensor>& memory) override;

  AdamOptions options_;
  double weight_decay_;
  bool decoupled_;
  std::vector<Moments> moments_;  // one per parameter
};

/// Adam with weight decay decoupled from the gradient (Loshchilov and Hutter, "Decoupled weight
/// decay regularization", 2019): p shrinks by lr * weight_decay * p before the step.
class AdamW : public Adam {
 public:
  explicit AdamW(const ParameterGroups& parameters, const AdamOptions& options = {})
      : Adam("AdamW", parameters, options, true) {}
};

}  // namespace gradus
