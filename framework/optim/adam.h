// Adam.
#pragma once

#include "framework/optim/optimizer.h"

namespace gradus {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  /// Added to the gradient, times the parameter (an L2 penalty, as torch.optim.Adam has it).
  double weight_decay = 0.0;
};

/// Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.
class Adam : public Optimizer {
 public:
  /// Throws ValueError for options outside their range.
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {});

  void step() override;
  double lr() const { return options_.lr; }
  /// Throws ValueError for a rate below 0.
  void set_lr(double lr);

 private:
  struct Moments {
    Tensor first;
    Tensor second;
    Index steps = 0;  // a parameter without gradient takes none
  };

  AdamOptions options_;
  std::vector<Moments> moments_;  // one per parameter
};

}  // namespace gradus
