#include "layers/transformer_layer.h"

#include "framework/core/error.h"

namespace gradus {
namespace {

MultiHeadAttentionOptions attention_options(const TransformerLayerOptions& options) {
  return {.d_model = options.d_model,
          .n_heads = options.n_heads,
          .dropout = options.dropout,
          .bias = options.bias};
}

FeedForwardOptions feed_forward_options(const TransformerLayerOptions& options) {
  return {.d_model = options.d_model,
          .d_hidden = options.dim_feedforward,
          .dropout = options.dropout,
          .activation = options.activation,
          .bias = options.bias};
}

LayerNormOptions norm_options(const TransformerLayerOptions& options) {
  return {
      .normalized_shape = {options.d_model}, .eps = options.layer_norm_eps, .bias = options.bias};
}

/// The stream x after a sublayer, which sees it normalised before or is normalised after.
template <class Sublayer>
Tensor added(const Tensor& x, const LayerNorm& norm, bool norm_first, const Sublayer& sublayer) {
  return norm_first ? x + sublayer(norm(x)) : norm(x + sublayer(x));
}

std::string described_as(const char* layer, const FeedForward& net, bool norm_first) {
  return text(layer, "(", name(net.activation()), norm_first ? ", pre-norm)" : ", post-norm)");
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& options)
    : self_attn(attention_options(options)),
      feed_forward(feed_forward_options(options)),
      norm1(norm_options(options)),
      norm2(norm_options(options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      norm_first_(options.norm_first) {}

AttentionOutput TransformerEncoderLayer::operator()(const Tensor& src, const AttentionMask& mask,
                                                    bool need_weights) const {
  const ModuleScope scope(*this);
  Tensor weights;
  const Tensor middle = added(src, norm1, norm_first_, [&](const Tensor& seen) {
    const AttentionOutput attended = self_attn(seen, seen, seen, mask, need_weights);
    weights = attended.weights;
    return dropout1(attended.output);
  });
  const Tensor output = added(middle, norm2, norm_first_, [&](const Tensor& seen) {
    return dropout2(feed_forward.forward(seen));
  });
  return {output, weights};
}

std::string TransformerEncoderLayer::description() const {
  return described_as("TransformerEncoderLayer", feed_forward, norm_first_);
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerDecoderLayerOptions& options)
    : self_attn(attention_options(options)),
      multihead_attn(attention_options(options)),
      feed_forward(feed_forward_options(options)),
      norm1(norm_options(options)),
      norm2(norm_options(options)),
      norm3(norm_options(options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      dropout3(options.dropout),
      norm_first_(options.norm_first) {}

TransformerDecoderLayer::Output TransformerDecoderLayer::operator()(
    const Tensor& tgt, const Tensor& memory, const AttentionMask& mask,
    const AttentionMask& memory_mask, bool need_weights) const {
  const ModuleScope scope(*this);
  Output result;
  const Tensor first = added(tgt, norm1, norm_first_, [&](const Tensor& seen) {
    const AttentionOutput attended = self_attn(seen, seen, seen, mask, need_weights);
    result.self_weights = attended.weights;
    return dropout1(attended.output);
  });
  const Tensor second = added(first, norm2, norm_first_, [&](const Tensor& seen) {
    const AttentionOutput attended =
        multihead_attn(seen, memory, memory, memory_mask, need_weights);
    result.cross_weights = attended.weights;
    return dropout2(attended.output);
  });
  result.output = added(second, norm3, norm_first_,
                        [&](const Tensor& seen) { return dropout3(feed_forward.forward(seen)); });
  return result;
}

std::string TransformerDecoderLayer::description() const {
  return described_as("TransformerDecoderLayer", feed_forward, norm_first_);
}

}  // namespace gradus
