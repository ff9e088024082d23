// Heads: what attention layers share: a width split into heads, and merged again.
#pragma once

#include "framework/ops/heads_internal.h"
#include "framework/ops/self_attention_internal.h"
#include "layers/linear.h"

namespace gradus {

/// Throws ValueError, in the words of `layer`, unless n_heads divide d_model evenly.
void check_heads(const char* layer, Index d_model, Index n_heads);

/// What linear layers make queries, keys and values of.
struct Projections {
  const Linear& query;
  const Linear& key;
  const Linear& value;
};

/// scaled_dot_product_attention between the heads that these layers make, its own heads merged:
/// (B, q, d_model). Of one tensor it is one step of the tape, unless a TapeTrace is to see its
/// parts.
Tensor attended(const Tensor& query, const Tensor& key, const Tensor& value,
                const Projections& project, HeadCounts heads, const AttentionOptions& options);

}  // namespace gradus
