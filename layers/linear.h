// Linear: an affine map of the last axis.
#pragma once

#include "layers/module.h"

namespace gradus {

struct LinearOptions {
  Index in_features;
  Index out_features;
  bool bias = true;
};

/// y = x weight^T + bias: (..., in_features) to (..., out_features). Starts, as torch.nn.Linear
/// does, evenly in +-1/sqrt(in_features), weight first. Throws ValueError for sizes below 1 (in) or
/// 0 (out).
class Linear : public Layer {
 public:
  explicit Linear(const LinearOptions& options);
  Linear(Index in_features, Index out_features, bool with_bias = true)
      : Linear(LinearOptions{in_features, out_features, with_bias}) {}

  Tensor weight;  ///< (out_features, in_features)
  Tensor bias;    ///< (out_features), or undefined

  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
  std::string description() const override;
};

}  // namespace gradus
