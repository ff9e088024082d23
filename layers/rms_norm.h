// RMSNorm: normalisation by the root mean square over the last axes, with a learned scale.
#pragma once

#include <optional>

#include "layers/module.h"

namespace gradus {

struct RMSNormOptions {
  Shape normalized_shape;
  std::optional<double> eps{};  ///< as PyTorch's: the dtype's machine epsilon unless given
  bool elementwise_affine = true;
};

/// x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, "Root mean square layer normalization",
/// 2019). Shape in, shape out. Starts with weight 1. Throws ValueError for a negative eps,
/// ShapeError.
class RMSNorm : public Layer {
 public:
  explicit RMSNorm(const RMSNormOptions& options);
  explicit RMSNorm(Index size) : RMSNorm(RMSNormOptions{{size}}) {}

  Tensor weight;  ///< normalized_shape, or undefined

  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override { v("weight", weight); }
  std::string description() const override;

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

}  // namespace gradus
