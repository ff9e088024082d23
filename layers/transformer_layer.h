// Blocks of a transformer: attention and a feed-forward net, each added to the stream that it
// reads. Arguments, defaults and parameter names are those of torch.nn.TransformerEncoderLayer and
// TransformerDecoderLayer, but for the attentions' projections, which have a name each.
//
// A sublayer f and its norm meet the stream x in one of two ways: post-norm, norm(x +
// dropout(f(x))) (Vaswani et al., 2017), or pre-norm, x + dropout(f(norm(x))) (Xiong et al., "On
// layer normalization in the transformer architecture", 2020).
#pragma once

#include "layers/attention.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"

namespace gradus {

struct TransformerLayerOptions {
  Index d_model;
  Index n_heads;
  Index dim_feedforward = 2048;
  double dropout = 0.1;  ///< of attention weights, hidden features and what is added to the stream
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;  ///< pre-norm
  bool bias = true;         ///< of all Linears and LayerNorms
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

/// Self-attention, then the feed-forward net: (B, length, d_model) in and out.
class TransformerEncoderLayer : public Module {
 public:
  explicit TransformerEncoderLayer(const TransformerEncoderLayerOptions& options);

  MultiHeadAttention self_attn;
  FeedForward feed_forward;  ///< its members are listed as the layer's own
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

  /// The output and, if asked for, the attention weights (B, H, length, length). Throws ShapeError.
  AttentionOutput operator()(const Tensor& src, const AttentionMask& mask = {},
                             bool need_weights = false) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    feed_forward.visit(v);
    v("norm1", norm1);
    v("norm2", norm2);
    v("dropout1", dropout1);
    v("dropout2", dropout2);
  }
  std::string description() const override;

 private:
  bool norm_first_;
};

/// Self-attention, attention to an encoder's output, then the feed-forward net: (B, length,
/// d_model) in and out.
class TransformerDecoderLayer : public Module {
 public:
  explicit TransformerDecoderLayer(const TransformerDecoderLayerOptions& options);

  MultiHeadAttention self_attn, multihead_attn;
  FeedForward feed_forward;  ///< its members are listed as the layer's own
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

  struct Output {
    Tensor output;
    Tensor self_weights;   ///< (B, H, length, length), if asked for
    Tensor cross_weights;  ///< (B, H, length, memory's length), if asked for
  };
  /// memory is (B, its own length, d_model). Throws ShapeError.
  Output operator()(const Tensor& tgt, const Tensor& memory, const AttentionMask& mask = {},
                    const AttentionMask& memory_mask = {}, bool need_weights = false) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("multihead_attn", multihead_attn);
    feed_forward.visit(v);
    v("norm1", norm1);
    v("norm2", norm2);
    v("norm3", norm3);
    v("dropout1", dropout1);
    v("dropout2", dropout2);
    v("dropout3", dropout3);
  }
  std::string description() const override;

 private:
  bool norm_first_;
};

}  // namespace gradus
