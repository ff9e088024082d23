#include "layers/feed_forward.h"

#include "framework/core/error.h"
#include "framework/ops/unary.h"

namespace gradus {
namespace {

std::optional<Linear> gate_for(const FeedForwardOptions& options) {
  if (options.activation != Activation::swiglu) return std::nullopt;
  return Linear(options.d_model, options.d_hidden, options.bias);
}

}  // namespace

const char* name(Activation activation) {
  switch (activation) {
    case Activation::relu: return "relu";
    case Activation::gelu: return "gelu";
    case Activation::swiglu: return "swiglu";
  }
  return "?";
}

FeedForward::FeedForward(const FeedForwardOptions& options)
    : linear1(options.d_model, options.d_hidden, options.bias),
      linear_gate(gate_for(options)),
      linear2(options.d_hidden, options.d_model, options.bias),
      dropout(options.dropout),
      activation_(options.activation) {}

Tensor FeedForward::activated(const Tensor& x) const {
  switch (activation_) {
    case Activation::relu: return relu(linear1(x));
    case Activation::gelu: return gelu(linear1(x));
    case Activation::swiglu: return silu((*linear_gate)(x)) * linear1(x);
  }
  return {};
}

Tensor FeedForward::forward(const Tensor& x) const { return linear2(dropout(activated(x))); }

std::string FeedForward::description() const {
  return text("FeedForward(", name(activation_), ")");
}

}  // namespace gradus
