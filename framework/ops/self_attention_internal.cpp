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
    const Tensor part = empty_like(v.input(i));
    if (part.numel() > 0) std::memcpy(part.raw(), place, bytes_of(part));
    place += bytes_of(part);
    if (v.wants(i)) all[static_cast<std::size_t>(i)] = part;
  }
}

/// Of a packed tensor (B, length, heads * d), the heads from one on.
kernels::HeadRows heads_from(const Tensor& rows, Index head, Index width) {
  const Index length = rows.shape()[1];
  const Index row = rows.shape()[2];
  auto* data = static_cast<std::byte*>(rows.raw()) + head * width * rows.itemsize();
  return {data, length * row, width, row};
}

/// One call, and what it leaves to its derivative.
struct Call {
  AttentionShapes shapes;
  AttentionRecipe recipe;
  Tensor qkv;       ///< (B, length, (H + 2 H / g) d): the heads of queries, of keys, of values
  Tensor log_sums;  ///< (B, H, length)

  Index heads() const { return shapes.query[1]; }
  Index shared_heads() const { return shapes.key[1]; }
  Index width() const { return shapes.query[3]; }

  kernels::AttentionOperands operands(const Tensor& y) const {
    return {heads_from(qkv, 0, width()), heads_from(qkv, heads(), width()),
            heads_from(qkv, heads() + shared_heads(), width()), heads_from(y, 0, width()),
            log_sums.raw()};
  }
  kernels::AttentionGradients gradients(const Tensor& dqkv) const {
    return {heads_from(dqkv, 0, width()), heads_from(dqkv, heads(), width()),
            heads_from(dqkv, heads() + shared_heads(), width())};
  }
};

// Inputs of the step: x; the weights of query, key and value; their biases.

Gradients gradients_by_kernel(const Vjp& v, const Call& call) {
  const Tensor g = launch::packed(v.grad());
  const Tensor dqkv = empty_like(call.qkv);
  const Tensor hidden = hidden_by(call.recipe, call.shapes);
  kernels::table().attention_backward(g.dtype(), call_of(call.shapes, call.recipe, hidden),
                                      call.gradients(dqkv), call.operands(v.output()),
                                      heads_from(g, 0, call.width()));
  const Tensor x = launch::packed(v.input(0));
  const Tensor weight = stacked(v.input(1), v.input(2), v.input(3));
  Gradients all(v.input_count());
  if (v.wants(0)) all[0] = product_gradient(v, 0, x, rows_of(dqkv), rows_of(weight));
  if (v.wants(1) || v.wants(2) || v.wants(3)) {
    const Tensor dweight = empty_like(weight);
    multiply(dweight, rows_of(dqkv).transposed(), rows_of(x));
    unstack(dweight, v, 1, all);
  }
  if (v.wants(4) || v.wants(5) || v.wants(6)) unstack(sum_of_rows(dqkv), v, 4, all);
  return all;
}

/// The same by ops, whose results can be differentiated again.
Gradients gradients_by_ops(const Vjp& v, const Call& call) {
  return composed_gradients(v, [&](const std::vector<Tensor>& in) {
    const Tensor query = split_heads(linear(in[0], in[1], in[4]), call.heads());
    const Tensor key = split_heads(linear(in[0], in[2], in[5]), call.shared_heads());
    const Tensor value = split_heads(linear(in[0], in[3], in[6]), call.shared_heads());
    return merge_heads(composed_attention(query, key, value, call.recipe));
  });
}

/// Whether heads of one width lie side by side in the product of x with all three weights.
bool is_one_product(LinearMap query, LinearMap key, LinearMap value, HeadCounts heads) {
  const auto is_heads = [width = query.weight.shape()[0] / heads.query](LinearMap map,
                                                                        Index count) {
    return map.weight.shape()[0] == count * width;
  };
  return is_heads(query, heads.query) && is_heads(key, heads.shared) &&
         is_heads(value, heads.shared) && query.bias.defined() == key.bias.defined() &&
         key.bias.defined() == value.bias.defined();
}

}  // namespace

// [q k v] = x [Wq Wk Wv]T + [bq bk bv];  y = drop(softmax(scale q kT)) v, its heads merged
Tensor self_attention(const Tensor& x, LinearMap query, LinearMap key, LinearMap value,
                      HeadCounts heads, const AttentionOptions& options) {
  for (const LinearMap& map : {query, key, value}) check_linear(x, map.weight, map.bias);
  if (!options.mask.takes_out() || !is_one_product(query, key, value, heads)) {
    return merge_heads(scaled_dot_product_attention(
        split_heads(linear(x, query.weight, query.bias), heads.query),
        split_heads(linear(x, key.weight, key.bias), heads.shared),
        split_heads(linear(x, value.weight, value.bias), heads.shared), options));
  }
  const Index batch = x.shape()[0];
  const Index length = x.shape()[1];
  const Index width = query.weight.shape()[0] / heads.query;
  const AttentionShapes shapes{
      {batch, heads.query, length, width}, {batch, heads.shared, length, width}, width};
  const Tensor weight = stacked(query.weight, key.weight, value.weight);
  const Tensor bias = query.bias.defined() ? stacked(query.bias, key.bias, value.bias) : Tensor();
  Call call{shapes, recipe_of(shapes, options),
            empty({batch, length, weight.shape()[0]}, x.dtype()),
            empty({batch, heads.query, length}, x.dtype())};
  multiply(call.qkv, rows_of(launch::packed(x)), rows_of(weight).transposed(),
           {.bias = launch::raw_or_null(bias)});
  const Tensor y = empty({batch, length, query.weight.shape()[0]}, x.dtype());
  const Tensor hidden = hidden_by(call.recipe, shapes);
  kernels::table().attention(x.dtype(), call_of(shapes, call.recipe, hidden), call.operands(y));
  return record("self_attention", y,
                {x, query.weight, key.weight, value.weight, query.bias, key.bias, value.bias},
                Saves::inputs | Saves::output, [call = std::move(call)](const Vjp& v) {
                  return grad_enabled() ? gradients_by_ops(v, call) : gradients_by_kernel(v, call);
                });
}

}  // namespace gradus
