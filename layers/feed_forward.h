// FeedForward: the position-wise half of a transformer block.
#pragma once

#include "layers/dropout.h"
#include "layers/linear.h"

namespace gradus {

enum class Activation { relu, gelu };

struct FeedForwardOptions {
  Index d_model;
  Index d_hidden;
  double dropout = 0.0;
  Activation activation = Activation::gelu;
};

/// linear2(dropout(activation(linear1(x)))): (..., d_model) to (..., d_model), by way of d_hidden.
class FeedForward : public Layer {
 public:
  explicit FeedForward(const FeedForwardOptions& options);

  Linear linear1, linear2;
  Dropout dropout;

  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override {
    v("linear1", linear1);
    v("dropout", dropout);
    v("linear2", linear2);
  }
  std::string description() const override;

 private:
  Activation activation_;
};

}  // namespace gradus
