// LayerNorm: normalisation over the last axes, with a learned scale and shift.
#pragma once

#include "layers/module.h"

namespace gradus {

struct LayerNormOptions {
  Shape normalized_shape;
  double eps = 1e-5;
  bool bias = true;
};

/// Shape in, shape out. Starts with weight 1 and bias 0.
class LayerNorm : public Layer {
 public:
  explicit LayerNorm(const LayerNormOptions& options);
  explicit LayerNorm(Index size) : LayerNorm(LayerNormOptions{{size}}) {}

  Tensor weight;  ///< normalized_shape
  Tensor bias;    ///< normalized_shape, or undefined

  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
  std::string description() const override;

 private:
  double eps_;
};

}  // namespace gradus
