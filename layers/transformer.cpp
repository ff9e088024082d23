#include "layers/transformer.h"

namespace gradus {
namespace {

MultiHeadAttentionOptions attention_options(const TransformerLayerOptions& options) {
  return {.d_model = options.d_model, .n_heads = options.n_heads, .dropout = options.dropout};
}

FeedForwardOptions feed_forward_options(const TransformerLayerOptions& options) {
  return {.d_model = options.d_model,
          .d_hidden = options.dim_feedforward,
          .dropout = options.dropout,
          .activation = options.activation};
}

LayerNormOptions norm_options(const TransformerLayerOptions& options) {
  return {.normalized_shape = {options.d_model}, .eps = options.layer_norm_eps};
}

/// The stream x after a sublayer, which sees it normalised before or is normalised after.
template <class Sublayer>
Tensor added(const Tensor& x, const LayerNorm& norm, bool norm_first, const Sublayer& sublayer) {
  return norm_first ? x + sublayer(norm(x)) : norm(x + sublayer(x));
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& options)
    : self_attn(attention_options(options)),
      feed_forward(feed_forward_options(options)),
      norm1(norm_options(options)),
      norm2(norm_options(options)),
      dropout(options.dropout),
      norm_first_(options.norm_first) {}

AttentionOutput TransformerEncoderLayer::operator()(const Tensor& x,
                                                    const AttentionMask& mask) const {
  const ModuleScope scope(*this);
  Tensor weights;
  const Tensor middle = added(x, norm1, norm_first_, [&](const Tensor& seen) {
    const AttentionOutput attended = self_attn(seen, seen, seen, mask);
    weights = attended.weights;
    return dropout(attended.output);
  });
  const Tensor output = added(middle, norm2, norm_first_,
                              [&](const Tensor& seen) { return dropout(feed_forward(seen)); });
  return {output, weights};
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerDecoderLayerOptions& options)
    : self_attn(attention_options(options)),
      multihead_attn(attention_options(options)),
      feed_forward(feed_forward_options(options)),
      norm1(norm_options(options)),
      norm2(norm_options(options)),
      norm3(norm_options(options)),
      dropout(options.dropout),
      norm_first_(options.norm_first) {}

TransformerDecoderLayer::Output TransformerDecoderLayer::operator()(
    const Tensor& x, const Tensor& memory, const AttentionMask& mask,
    const AttentionMask& memory_mask) const {
  const ModuleScope scope(*this);
  Output result;
  const Tensor first = added(x, norm1, norm_first_, [&](const Tensor& seen) {
    const AttentionOutput attended = self_attn(seen, seen, seen, mask);
    result.self_weights = attended.weights;
    return dropout(attended.output);
  });
  const Tensor second = added(first, norm2, norm_first_, [&](const Tensor& seen) {
    const AttentionOutput attended = multihead_attn(seen, memory, memory, memory_mask);
    result.cross_weights = attended.weights;
    return dropout(attended.output);
  });
  result.output = added(second, norm3, norm_first_,
                        [&](const Tensor& seen) { return dropout(feed_forward(seen)); });
  return result;
}

}  // namespace gradus
