// FeedForward: the position-wise half of a transformer block.
#pragma once

#include <optional>

#include "layers/dropout.h"
#include "layers/linear.h"

namespace gradus {

/// What stands between the two Linears. swiglu multiplies two projections, and so has a third
/// Linear (Shazeer, "GLU variants improve transformer", 2020).
enum class Activation { relu, gelu, swiglu };

/// "relu", "gelu" or "swiglu"
const char* name(Activation activation);

struct FeedForwardOptions {
  Index d_model;
  Index d_hidden;
  double dropout = 0.0;
  Activation activation = Activation::gelu;
  bool bias = true;
};

/// linear2(dropout(activation(linear1(x)))), or, for swiglu, linear2(dropout(silu(linear_gate(x)) *
/// linear1(x))): (..., d_model) to (..., d_model), by way of d_hidden. Draws its members in this
/// order: linear1, linear_gate, linear2.
class FeedForward : public Layer {
 public:
  explicit FeedForward(const FeedForwardOptions& options);

  Linear linear1;
  std::optional<Linear> linear_gate;  ///< of swiglu alone
  Linear linear2;
  Dropout dropout;

  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override {
    v("linear1", linear1);
    v("linear_gate", linear_gate);
    v("dropout", dropout);
    v("linear2", linear2);
  }
  std::string description() const override;
  Activation activation() const { return activation_; }

 private:
  Tensor activated(const Tensor& x) const;

  Activation activation_;
};

}  // namespace gradus
