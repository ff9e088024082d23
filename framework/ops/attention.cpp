#include "framework/ops/attention.h"

#include <utility>

#include "framework/autograd/composed_internal.h"
#include "framework/ops/attention_call_internal.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/heads_internal.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value, bool grouped) {
  check_floating(kName, query);
  check_same_dtype(kName, query, key);
  check_same_dtype(kName, query, value);
  const auto fail = [&](const std::string& why) {
    throw ShapeError(
        text(kName, ": ", why),
        {.got = text("query ", query.shape(), ", key ", key.shape(), ", value ", value.shape()),
         .need = "query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)"});
  };
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) fail("needs four axes each");
  if (query.size(0) != key.size(0) || key.size(0) != value.size(0)) fail("batch sizes differ");
  if (key.size(1) != value.size(1)) fail("key and value differ in heads");
  if (query.size(3) != key.size(3)) fail("query and key differ in features");
  if (key.size(2) != value.size(2)) fail("key and value differ in length");
  const Index heads = query.size(1);
  const Index shared = key.size(1);
  if (!grouped && heads != shared) fail("query and key differ in heads (see enable_gqa)");
  if (grouped && (shared == 0 || heads % shared != 0)) {
    fail(text(heads, " query heads cannot share ", shared, " key heads evenly"));
  }
}

// ---- the kernels, which never hold all weights at once ----

kernels::HeadRows head_rows(const Tensor& x) {
  return {x.raw(), x.strides()[0], x.strides()[1], x.strides()[2]};
}

/// x as it lies if its features are neighbours, as in a view by split_heads; else a packed copy.
Tensor readable(const Tensor& x) {
  return x.strides()[3] == 1 || x.size(3) <= 1 ? x : launch::packed(x);
}

/// Memory for a result (B, H, length, width) in the order of x: where x is a view of (B, length,
/// H, d), heads can be merged again without a copy.
Tensor empty_beside(const Tensor& x, Index width) {
  Shape shape = x.shape();
  shape[3] = width;
  return x.is_contiguous() ? empty(shape, x.dtype()) : empty_heads(shape, x.dtype());
}

AttentionShapes shapes_of(const Tensor& query, const Tensor& key, const Tensor& value) {
  return {query.shape(), key.shape(), value.shape()[3]};
}

kernels::AttentionOperands operands_of(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const Tensor& out, const Tensor& log_sums) {
  return {head_rows(query), head_rows(key), head_rows(value), head_rows(out), log_sums.raw()};
}

Gradients gradients_by_kernel(const Vjp& step, const Tensor& log_sums,
                              const AttentionRecipe& recipe) {
  const Tensor q = readable(step.input(0));
  const Tensor k = readable(step.input(1));
  const Tensor v = readable(step.input(2));
  const Tensor g = readable(step.grad());
  Gradients results;
  results.reserve(3);
  for (Index i = 0; i < 3; ++i) {
    const Tensor input = step.input(i);
    results.push_back(empty_beside(input, input.size(3)));
  }
  kernels::table().attention_backward(
      q.dtype(), call_of(shapes_of(q, k, v), recipe),
      {head_rows(results[0]), head_rows(results[1]), head_rows(results[2])},
      operands_of(q, k, v, step.output(), log_sums), head_rows(g));
  return results;
}

/// Gradients that shall have derivatives themselves are taken of the composed form.
Gradients gradients_of(const Vjp& step, const Tensor& log_sums, const AttentionRecipe& recipe) {
  if (!grad_enabled()) return gradients_by_kernel(step, log_sums, recipe);
  return composed_gradients(step, [&](const std::vector<Tensor>& inputs) {
    return composed_attention(inputs[0], inputs[1], inputs[2], recipe);
  });
}

// y = drop(softmax(scale q kT)) v
Tensor attention_by_kernel(const Tensor& query, const Tensor& key, const Tensor& value,
                           AttentionRecipe recipe) {
  const Tensor q = readable(query);
  const Tensor k = readable(key);
  const Tensor v = readable(value);
  const Tensor y = empty_beside(query, v.size(3));
  const Tensor log_sums = empty({q.size(0), q.size(1), q.size(2)}, q.dtype());
  kernels::table().attention(q.dtype(), call_of(shapes_of(q, k, v), recipe),
                             operands_of(q, k, v, y, log_sums));
  return record("scaled_dot_product_attention", y, {query, key, value},
                Saves::inputs | Saves::output,
                [recipe = std::move(recipe), log_sums](const Vjp& step) {
                  return gradients_of(step, log_sums, recipe);
                });
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  check_operands(query, key, value, options.enable_gqa);
  AttentionRecipe recipe = recipe_of(shapes_of(query, key, value), options);
  return recipe.mask.takes_out() ? attention_by_kernel(query, key, value, std::move(recipe))
                                 : composed_attention(query, key, value, recipe);
}

}  // namespace gradus
