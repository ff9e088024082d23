// Attention composed of differentiable ops, with every weight in memory: what
// scaled_dot_product_attention means, and what its second derivatives are taken of.
#pragma once

#include <cstdint>

#include "framework/autograd/node.h"
#include "framework/ops/attention_mask.h"

namespace gradus {

/// One call of attention, with all decided that its options leave open.
struct AttentionRecipe {
  AttentionMask mask;  ///< beside the causal one
  bool is_causal;      ///< query i sees keys 0 .. i + causal_offset
  Index causal_offset;
  double scale;
  double dropout_p;
  std::uint64_t dropout_key;  ///< where dropout_p is not 0
};

/// Operands as scaled_dot_product_attention takes them, and checked.
Tensor composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionRecipe& recipe);

/// The gradients by query, key and value, from that of the result.
Gradients composed_attention_gradients(const Tensor& gradient, const Tensor& query,
                                       const Tensor& key, const Tensor& value,
                                       const AttentionRecipe& recipe);

}  // namespace gradus
