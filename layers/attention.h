// Attention, composed of the layers and ops around it in plain sight:
//
//     Attention(Q, K, V) = softmax(Q K^T / sqrt(d_head)) V
//
// (Vaswani et al., "Attention is all you need", 2017, equation 1 and section 3.2.2.)
// Axes: B batch, H heads, q queries, k keys. Inputs are (B, length, features).
#pragma once

#include "layers/dropout.h"
#include "layers/linear.h"
#include "layers/masked_fill.h"
#include "layers/module.h"
#include "layers/softmax.h"

namespace gradus {

struct AttentionOutput {
  Tensor output;   ///< (B, q, d_model)
  Tensor weights;  ///< before dropout: (B, H, q, k), or (B, q, k) for a single head; undefined
                   ///< where they were not asked for
};

struct SingleHeadAttentionOptions {
  Index d_model;
  double dropout = 0.0;
  bool bias = false;
};

/// One head as wide as the model, without an output projection.
class SingleHeadAttention : public Module {
 public:
  explicit SingleHeadAttention(const SingleHeadAttentionOptions& options);

  Linear W_q, W_k, W_v;
  MaskedFill fill_hidden;
  Softmax softmax{{.axis = -1, .when_all_hidden = WhenAllHidden::zero}};
  Dropout dropout;

  /// query (B, q, d_model), key and value (B, k, d_model). A query that may attend to nothing gets
  /// zeros. Throws ShapeError.
  AttentionOutput operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionMask& mask = {}) const;
  void visit(Visitor& v) override {
    v("W_q", W_q);
    v("W_k", W_k);
    v("W_v", W_v);
    v("fill_hidden", fill_hidden);
    v("softmax", softmax);
    v("dropout", dropout);
  }
  std::string description() const override;

 private:
  Index d_model_;
};

struct MultiHeadAttentionOptions {
  Index d_model;
  Index n_heads;
  double dropout = 0.0;
  bool bias = true;
  Index kdim = 0;  ///< features of the keys; 0 stands for d_model
  Index vdim = 0;  ///< features of the values; 0 stands for d_model
};

/// Several heads side by side, each d_model / n_heads wide. Throws ValueError where that leaves a
/// remainder.
class MultiHeadAttention : public Module {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);

  Linear q_linear, k_linear, v_linear, out_linear;
  MaskedFill fill_hidden;
  Softmax softmax{{.axis = -1, .when_all_hidden = WhenAllHidden::zero}};
  Dropout dropout;

  /// query (B, q, d_model), key (B, k, kdim), value (B, k, vdim). A query that may attend to
  /// nothing gets zero weights, and the output projection's bias as output. Without need_weights
  /// the same output comes from scaled_dot_product_attention, faster and in less memory. Throws
  /// ShapeError.
  AttentionOutput operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionMask& mask = {}, bool need_weights = true) const;
  void visit(Visitor& v) override {
    v("q_linear", q_linear);
    v("k_linear", k_linear);
    v("v_linear", v_linear);
    v("out_linear", out_linear);
    v("fill_hidden", fill_hidden);
    v("softmax", softmax);
    v("dropout", dropout);
  }
  std::string description() const override;

 private:
  Tensor without_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                         const AttentionMask& mask) const;

  Index n_heads_;
};

}  // namespace gradus
