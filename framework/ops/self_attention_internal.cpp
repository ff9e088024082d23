#include "framework/ops/self_attention_internal.h"

#include <cstring>
#include <utility>

#include "framework/autograd/composed_internal.h"
#include "framework/ops/attention_call_internal.h"
#include "framework/ops/creation.h"
#include "framework/ops/heads_internal.h"
#include "framework/ops/launch.h"
#include "framework/ops/linear.h"
#include "framework/ops/linear_internal.h"

namespace gradus {
namespace {

// ---- three weights, or biases, as one ----

// So many weights are copied in no time; more must be few beside the numbers of x.
constexpr Index kFewWeights = 16384;
constexpr Index kRowsPerFeature = 4;

std::size_t bytes_of(const Tensor& x) { return static_cast<std::size_t>(x.numel() * x.itemsize()); }

/// Tensors that differ in their first axis only, one after another.
Tensor stacked(const Tensor& a, const Tensor& b, const Tensor& c) {
  Shape shape = a.shape();
  shape[0] += b.shape()[0] + c.shape()[0];
  const Tensor stack = empty(shape, a.dtype());
  auto* place = static_cast<std::byte*>(stack.raw());
  for (const Tensor* part : {&a, &b, &c}) {
    const Tensor packed = launch::packed(*part);
    if (packed.numel() > 0) std::memcpy(place, packed.raw(), bytes_of(packed));
    place += bytes_of(packed);
  }
  return stack;
}

/// The reverse, for inputs first, first + 1 and first + 2 of a step, where they want a gradient.
void unstack(const Tensor& stack, const Vjp& v, Index first, Gradients& all) {
  const auto* place = static_cast<const std::byte*>(stack.raw());
  for (Index i = first; i < first + 3; ++i) {
    const Tensor input = v.input(i);
    if (v.wants(i)) {
      const Tensor part = all[static_cast<std::size_t>(i)] = empty_like(input);
      if (part.numel() > 0) std::memcpy(part.raw(), place, bytes_of(part));
    }
    place += bytes_of(input);
  }
}

bool any_wanted(const Vjp& v, Index first) {
  return v.wants(first) || v.wants(first + 1) || v.wants(first + 2);
}

// ---- the heads where they lie ----

/// Of a packed tensor (B, length, heads * d), the heads from one on.
kernels::HeadRows heads_from(const Tensor& rows, Index head, Index width) {
  const Index length = rows.shape()[1];
  const Index row = rows.shape()[2];
  auto* data = static_cast<std::byte*>(rows.raw()) + head * width * rows.itemsize();
  return {data, length * row, width, row};
}

/// The heads of queries, of keys and of values, side by side in one tensor.
kernels::AttentionGradients parts_of(const Tensor& qkv, const AttentionShapes& shapes) {
  const Index heads = shapes.query[1];
  const Index shared = shapes.key[1];
  const Index width = shapes.query[3];
  return {heads_from(qkv, 0, width), heads_from(qkv, heads, width),
          heads_from(qkv, heads + shared, width)};
}

kernels::AttentionOperands operands_of(const Tensor& qkv, const Tensor& y, const Tensor& log_sums,
                                       const AttentionShapes& shapes) {
  const auto [query, key, value] = parts_of(qkv, shapes);
  return {query, key, value, heads_from(y, 0, shapes.value_width), log_sums.raw()};
}

// ---- the step; its inputs are x, the weights of query, key and value, their biases, and what the
// forward pass leaves to the rule: qkv and log_sums ----

Gradients gradients_by_kernel(const Vjp& v, const AttentionShapes& shapes,
                              const AttentionRecipe& recipe) {
  const Tensor g = launch::packed(v.grad());
  const Tensor qkv = v.input(7);
  const Tensor dqkv = empty_like(qkv);
  kernels::table().attention_backward(g.dtype(), call_of(shapes, recipe), parts_of(dqkv, shapes),
                                      operands_of(qkv, v.output(), v.input(8), shapes),
                                      heads_from(g, 0, shapes.value_width));
  const Tensor x = launch::packed(v.input(0));
  Gradients all(v.input_count());
  if (v.wants(0)) {
    const Tensor weight = stacked(v.input(1), v.input(2), v.input(3));
    all[0] = product_gradient(v, 0, x, rows_of(dqkv), rows_of(weight));
  }
  if (any_wanted(v, 1)) {
    const Tensor dweight = empty({qkv.size(2), x.size(2)}, x.dtype());
    multiply(dweight, rows_of(dqkv).transposed(), rows_of(x));
    unstack(dweight, v, 1, all);
  }
  if (any_wanted(v, 4)) unstack(sum_of_rows(dqkv), v, 4, all);
  return all;
}

/// The same by ops, whose results can be differentiated again.
Gradients gradients_by_ops(const Vjp& v, const AttentionShapes& shapes,
                           const AttentionRecipe& recipe) {
  return composed_gradients(v, [&](const std::vector<Tensor>& in) {
    const Tensor query = split_heads(linear(in[0], in[1], in[4]), shapes.query[1]);
    const Tensor key = split_heads(linear(in[0], in[2], in[5]), shapes.key[1]);
    const Tensor value = split_heads(linear(in[0], in[3], in[6]), shapes.key[1]);
    return merge_heads(composed_attention(query, key, value, recipe));
  });
}

// [q k v] = x [Wq Wk Wv]T + [bq bk bv];  y = drop(softmax(scale q kT)) v, its heads merged
Tensor in_one_step(const Tensor& x, LinearMap query, LinearMap key, LinearMap value,
                   HeadCounts heads, const AttentionOptions& options) {
  const Index batch = x.shape()[0];
  const Index length = x.shape()[1];
  const Index out = query.weight.shape()[0];
  const Index width = out / heads.query;
  const AttentionShapes shapes{
      {batch, heads.query, length, width}, {batch, heads.shared, length, width}, width};
  AttentionRecipe recipe = recipe_of(shapes, options);

  const Tensor weight = stacked(query.weight, key.weight, value.weight);
  const Tensor bias = query.bias.defined() ? stacked(query.bias, key.bias, value.bias) : Tensor();
  const Tensor qkv = empty({batch, length, weight.shape()[0]}, x.dtype());
  const Tensor x_packed = launch::packed(x);
  multiply(qkv, rows_of(x_packed), rows_of(weight).transposed(),
           {.bias = launch::raw_or_null(bias)});

  const Tensor y = empty({batch, length, out}, x.dtype());
  const Tensor log_sums = empty({batch, heads.query, length}, x.dtype());
  kernels::table().attention(x.dtype(), call_of(shapes, recipe),
                             operands_of(qkv, y, log_sums, shapes));
  return record(
      "self_attention", y,
      {x, query.weight, key.weight, value.weight, query.bias, key.bias, value.bias, qkv, log_sums},
      Saves::inputs | Saves::output, [shapes, recipe = std::move(recipe)](const Vjp& v) {
        return grad_enabled() ? gradients_by_ops(v, shapes, recipe)
                              : gradients_by_kernel(v, shapes, recipe);
      });
}

// ---- when ----

/// Whether heads of one width lie side by side in the product of x with all three weights.
bool is_one_product(LinearMap query, LinearMap key, LinearMap value, HeadCounts heads,
                    bool grouped) {
  const bool shares = heads.query == heads.shared ||
                      (grouped && heads.shared > 0 && heads.query % heads.shared == 0);
  const Index width = query.weight.shape()[0] / heads.query;
  const auto is_heads = [width](LinearMap map, Index count) {
    return map.weight.shape()[0] == count * width;
  };
  return shares && is_heads(query, heads.query) && is_heads(key, heads.shared) &&
         is_heads(value, heads.shared) && query.bias.defined() == key.bias.defined() &&
         key.bias.defined() == value.bias.defined();
}

/// Whether to copy the weights, forward and backward, costs little beside the products.
bool pays(const Tensor& x, LinearMap query, LinearMap key, LinearMap value) {
  const Index weights = query.weight.numel() + key.weight.numel() + value.weight.numel();
  return weights <= kFewWeights || x.numel() >= kRowsPerFeature * x.size(-1) * x.size(-1);
}

}  // namespace

Tensor self_attention(const Tensor& x, LinearMap query, LinearMap key, LinearMap value,
                      HeadCounts heads, const AttentionOptions& options) {
  for (const LinearMap& map : {query, key, value}) check_linear(x, map.weight, map.bias);
  if (options.mask.takes_out() && is_one_product(query, key, value, heads, options.enable_gqa) &&
      pays(x, query, key, value)) {
    return in_one_step(x, query, key, value, heads, options);
  }
  const Tensor q = split_heads(linear(x, query.weight, query.bias), heads.query);
  const Tensor k = split_heads(linear(x, key.weight, key.bias), heads.shared);
  const Tensor v = split_heads(linear(x, value.weight, value.bias), heads.shared);
  return merge_heads(scaled_dot_product_attention(q, k, v, options));
}

}  // namespace gradus
