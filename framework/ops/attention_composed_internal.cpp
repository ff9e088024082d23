#include "framework/ops/attention_composed_internal.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/dropout.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"

namespace gradus {
namespace {

/// Every head repeated for the query heads that share it: (B, H/g, k, d) to (B, H, k, d).
Tensor for_each_query_head(const Tensor& x, Index heads) {
  if (x.size(1) == heads) return x;
  const Index group = heads / x.size(1);
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), group, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

/// What the query heads that share a head found for it, summed: the derivative of the above.
Tensor sum_for_shared_heads(const Tensor& x, Index shared) {
  if (x.size(1) == shared) return x;
  return sum(x.reshape({x.size(0), shared, x.size(1) / shared, x.size(2), x.size(3)}), {2});
}

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

Tensor composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionRecipe& recipe) {
  const Tensor k = for_each_query_head(key, query.size(1));
  const Tensor v = for_each_query_head(value, query.size(1));
  return matmul(dropped(weights_of(query, k, recipe), recipe), v);
}

// y = drop(p) v with p = softmax(s), s = scale q kT, and s = -inf where keys are hidden:
//   dv = drop(p)T g;  dp = drop(g vT);  ds = softmax_backward(dp, p);  dq = scale ds k;
//   dk = scale dsT q
Gradients composed_attention_gradients(const Tensor& gradient, const Tensor& query,
                                       const Tensor& key, const Tensor& value,
                                       const AttentionRecipe& recipe) {
  const Tensor k = for_each_query_head(key, query.size(1));
  const Tensor v = for_each_query_head(value, query.size(1));
  const Tensor p = weights_of(query, k, recipe);
  const Tensor dv = matmul(dropped(p, recipe).transpose(-2, -1), gradient);
  const Tensor dp = dropped(matmul(gradient, v.transpose(-2, -1)), recipe);
  const Tensor ds = softmax_backward(dp, p, -1) * recipe.scale;
  const Tensor dk = matmul(ds.transpose(-2, -1), query);
  return {matmul(ds, k), sum_for_shared_heads(dk, key.size(1)),
          sum_for_shared_heads(dv, value.size(1))};
}

}  // namespace gradus
