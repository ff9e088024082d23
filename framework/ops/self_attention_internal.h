// Self-attention as one step of the tape: queries, keys and values in one product, since they share
// an input, and attention between them where they lie.
#pragma once

#include "framework/ops/attention.h"

namespace gradus {

/// The weight (out, in) of a linear map, and its bias (out), or none.
struct LinearMap {
  const Tensor& weight;
  const Tensor& bias;
};

struct HeadCounts {
  Index query;
  Index shared;  ///< of keys and values: the query heads shared among them evenly
};

/// merge_heads(scaled_dot_product_attention(q, k, v)), with q = split_heads(linear(x, query)), k
/// and v alike: x (B, length, in), result (B, length, out of the query's map). Throws what these
/// do. Goes step by step, too, where one product would not be quicker or cannot be: with few rows
/// beside large weights, heads of several widths, biases in some maps only, or a mask with a finite
/// fill.
Tensor self_attention(const Tensor& x, LinearMap query, LinearMap key, LinearMap value,
                      HeadCounts heads, const AttentionOptions& options);

}  // namespace gradus
