// Blocks of a transformer.
#pragma once

#include "layers/attention.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"

namespace gradus {

struct TransformerEncoderLayerOptions {
  Index d_model;
  Index n_heads;
  Index dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = Activation::gelu;
};

/// Self-attention and a feed-forward net, each on a normalised copy of the stream it adds to
/// (pre-norm; Xiong et al., "On layer normalization in the transformer architecture", 2020):
///
///     x = x + dropout(attention(norm1(x)));  x = x + dropout(feed_forward(norm2(x)))
///
/// (B, length, d_model) in and out.
class TransformerEncoderLayer : public Module {
 public:
  explicit TransformerEncoderLayer(const TransformerEncoderLayerOptions& options);

  MultiHeadAttention self_attn;
  FeedForward feed_forward;
  LayerNorm norm1, norm2;
  Dropout dropout;

  /// The output, and the attention weights (B, H, length, length).
  AttentionOutput operator()(const Tensor& x, const AttentionMask& mask = {}) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("feed_forward", feed_forward);
    v("norm1", norm1);
    v("norm2", norm2);
    v("dropout", dropout);
  }
  std::string description() const override { return "TransformerEncoderLayer"; }
};

}  // namespace gradus
