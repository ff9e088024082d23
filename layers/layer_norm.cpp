#include "layers/layer_norm.h"

#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "framework/ops/normalization.h"

namespace gradus {

LayerNorm::LayerNorm(const LayerNormOptions& options)
    : weight(ones(options.normalized_shape).requires_grad_()), eps_(options.eps) {
  if (!(options.eps >= 0)) throw ValueError(text("LayerNorm: negative eps ", options.eps));
  if (options.bias) bias = zeros(options.normalized_shape).requires_grad_();
}

Tensor LayerNorm::forward(const Tensor& x) const {
  return layer_norm(x, weight.shape(), weight, bias, eps_);
}

std::string LayerNorm::description() const { return text("LayerNorm(", weight.shape(), ")"); }

}  // namespace gradus
