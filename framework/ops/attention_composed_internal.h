// Attention composed of differentiable ops, with every weight in memory: what
// scaled_dot_product_attention means, and what its second derivatives are taken of.
#pragma once

#include <cstdint>

#include "framework/ops/attention_mask.h"

namespace gradus {

/// One call of attention, with all decided that its options leave open.
struct AttentionRecipe {
  AttentionMask mask;  ///< beside the causal one
  Tensor hidden{};     ///< what that hides, with a 1 where it is shared; undefined for nothing
  bool is_causal;      ///< query i sees keys 0 .. i + causal_offset
  Index causal_offset;
  double scale;
  double dropout_p;
  std::uint64_t dropout_key;  ///< where dropout_p is not 0
};

/// Every head once for each of the query heads that share it: (B, H / g, length, d) to
/// (B, H, length, d).
Tensor repeat_heads(const Tensor& x, Index n_heads);

/// Operands as scaled_dot_product_attention takes them, and checked.
Tensor composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionRecipe& recipe);

}  // namespace gradus
