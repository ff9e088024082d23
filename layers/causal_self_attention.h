// CausalSelfAttention: a sequence attends to itself, every position to those up to its own. Heads
// of keys and values may be shared by groups of query heads (Ainslie et al., "GQA", 2023),
// positions may be rotary (Su et al., "RoFormer", 2021), and earlier keys may be cached.
#pragma once

#include "layers/attention.h"
#include "layers/key_value_cache.h"

namespace gradus {

struct CausalSelfAttentionOptions {
  Index d_model;
  Index n_heads;
  Index n_kv_heads = 0;  ///< heads of keys and values; 0 stands for n_heads
  double dropout = 0.0;  ///< of the attention weights
  bool bias = true;
  bool rotary = false;  ///< queries and keys turned by their positions: RotaryPairs::halves
};

/// How a pass attends.
struct CausalPass {
  KeysAndValues* cache = nullptr;  ///< x continues what it holds, and is added to it
  bool need_weights = false;       ///< composed step by step, to return the weights
};

/// Throws ValueError unless d_model splits into n_heads, n_kv_heads divide n_heads and, where
/// positions are rotary, heads are of even width.
class CausalSelfAttention : public Module {
 public:
  explicit CausalSelfAttention(const CausalSelfAttentionOptions& options);

  Linear q_linear, k_linear, v_linear, out_linear;
  Dropout dropout;

  /// x (B, q, d_model) to an output of its shape and, if asked for, weights before dropout (B, H,
  /// q, k), where k counts the cached positions and then those of x. Throws ShapeError.
  AttentionOutput operator()(const Tensor& x, const CausalPass& pass = {}) const;
  void visit(Visitor& v) override {
    v("q_linear", q_linear);
    v("k_linear", k_linear);
    v("v_linear", v_linear);
    v("out_linear", out_linear);
    v("dropout", dropout);
  }
  std::string description() const override;

 private:
  Index n_heads_;
  Index n_kv_heads_;
  bool rotary_;
};

}  // namespace gradus
