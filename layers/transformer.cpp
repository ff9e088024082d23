#include "layers/transformer.h"

namespace gradus {

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& options)
    : self_attn(
          {.d_model = options.d_model, .n_heads = options.n_heads, .dropout = options.dropout}),
      feed_forward({.d_model = options.d_model,
                    .d_hidden = options.dim_feedforward,
                    .dropout = options.dropout,
                    .activation = options.activation}),
      norm1(options.d_model),
      norm2(options.d_model),
      dropout(options.dropout) {}

AttentionOutput TransformerEncoderLayer::operator()(const Tensor& x,
                                                    const AttentionMask& mask) const {
  const Tensor normal = norm1(x);
  const auto [attended, weights] = self_attn(normal, normal, normal, mask);
  const Tensor middle = x + dropout(attended);
  return {middle + dropout(feed_forward(norm2(middle))), weights};
}

}  // namespace gradus
