// Heads: what attention layers share: a width split into heads, and merged again.
#pragma once

#include "framework/ops/heads_internal.h"
#include "framework/ops/self_attention_internal.h"
#include "layers/linear.h"

namespace gradus {

/// Throws ValueError, in the words of `layer`, unless n_heads divide d_model evenly.
void check_heads(const char* layer, Index d_model, Index n_heads);

/// Self-attention by the weights of three layers, as one step of the tape.
inline Tensor self_attention(const Tensor& x, const Linear& query, const Linear& key,
                             const Linear& value, HeadCounts heads,
                             const AttentionOptions& options) {
  return self_attention(x, LinearMap{query.weight, query.bias}, LinearMap{key.weight, key.bias},
                        LinearMap{value.weight, value.bias}, heads, options);
}

}  // namespace gradus
