// Dropout as a layer.
#pragma once

#include "layers/module.h"

namespace gradus {

/// In training, drops each element with probability p and divides the others by 1 - p; in eval, the
/// identity. Throws ValueError unless 0 <= p <= 1.
class Dropout : public Layer {
 public:
  explicit Dropout(double p = 0.5);

  Tensor forward(const Tensor& x) const override;
  std::string description() const override;
  double p() const { return p_; }

 private:
  double p_;
};

}  // namespace gradus
