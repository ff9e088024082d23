#include "layers/feed_forward.h"

#include "framework/ops/unary.h"

namespace gradus {

FeedForward::FeedForward(const FeedForwardOptions& options)
    : linear1(options.d_model, options.d_hidden),
      linear2(options.d_hidden, options.d_model),
      dropout(options.dropout),
      activation_(options.activation) {}

Tensor FeedForward::forward(const Tensor& x) const {
  const Tensor hidden = linear1(x);
  return linear2(dropout(activation_ == Activation::gelu ? gelu(hidden) : relu(hidden)));
}

std::string FeedForward::description() const {
  return activation_ == Activation::gelu ? "FeedForward(gelu)" : "FeedForward(relu)";
}

}  // namespace gradus
