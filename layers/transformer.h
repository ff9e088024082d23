// Blocks of a transformer: attention and a feed-forward net, each added to the stream that it
// reads.
//
// A sublayer f and its norm meet the stream x in one of two ways: pre-norm, x + dropout(f(norm(x)))
// (Xiong et al., "On layer normalization in the transformer architecture", 2020), or post-norm,
// norm(x + dropout(f(x))) (Vaswani et al., 2017).
#pragma once

#include "layers/attention.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"

namespace gradus {

struct TransformerLayerOptions {
  Index d_model;
  Index n_heads;
  Index dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = Activation::gelu;
  double layer_norm_eps = 1e-5;
  bool norm_first = true;  ///< pre-norm; PyTorch's default is post-norm
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

/// Self-attention, then the feed-forward net: (B, length, d_model) in and out.
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

 private:
  bool norm_first_;
};

/// Self-attention, attention to an encoder's output, then the feed-forward net: (B, length,
/// d_model) in and out.
class TransformerDecoderLayer : public Module {
 public:
  explicit TransformerDecoderLayer(const TransformerDecoderLayerOptions& options);

  MultiHeadAttention self_attn, multihead_attn;
  FeedForward feed_forward;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout;

  struct Output {
    Tensor output;
    Tensor self_weights;   ///< (B, H, length, length)
    Tensor cross_weights;  ///< (B, H, length, memory's length)
  };
  /// memory is (B, its own length, d_model).
  Output operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                    const AttentionMask& memory_mask = {}) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("multihead_attn", multihead_attn);
    v("feed_forward", feed_forward);
    v("norm1", norm1);
    v("norm2", norm2);
    v("norm3", norm3);
    v("dropout", dropout);
  }
  std::string description() const override { return "TransformerDecoderLayer"; }

 private:
  bool norm_first_;
};

}  // namespace gradus
