#include "framework/ops/attention_composed_internal.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/dropout.h"
#include "framework/ops/matmul.h"
#include "framework/ops/softmax.h"

namespace gradus {
namespace {

/// softmax(query key^T * scale) where keys are not hidden: (B, H, q, k)
Tensor weights_of(const Tensor& query, const Tensor& key, const AttentionRecipe& recipe) {
  AttentionMask mask = recipe.mask;
  if (recipe.is_causal) {
    mask = mask | AttentionMask::causal(query.size(2), key.size(2), recipe.causal_offset);
  }
  const Tensor scores = matmul(query * recipe.scale, key.transpose(-2, -1));
  return softmax(masked_fill(scores, mask), -1, WhenAllHidden::zero);
}

Tensor dropped(const Tensor& weights, const AttentionRecipe& recipe) {
  if (recipe.dropout_p == 0) return weights;
  return dropout_with_key(weights, recipe.dropout_p, recipe.dropout_key);
}

}  // namespace

Tensor repeat_heads(const Tensor& x, Index n_heads) {
  if (x.size(1) == n_heads) return x;
  const Index group = n_heads / x.size(1);
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), group, x.size(2), x.size(3)})
      .reshape({x.size(0), n_heads, x.size(2), x.size(3)});
}

Tensor composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionRecipe& recipe) {
  const Tensor k = repeat_heads(key, query.size(1));
  const Tensor v = repeat_heads(value, query.size(1));
  return matmul(dropped(weights_of(query, k, recipe), recipe), v);
}

}  // namespace gradus
