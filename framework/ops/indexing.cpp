#include "framework/ops/indexing.h"

#include <algorithm>
#include <limits>

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/extreme.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"

namespace gradus {
namespace {

const Index* index_data(const Tensor& index) { return index.data<Index>(); }

/// `packed` is a row-major index tensor; `operand()`, asked for the error only, says what into.
template <class Operand>
void check_indices(const char* op, const Tensor& packed, Index size, Operand operand) {
  const Index* data = index_data(packed);
  Index outside = 0;
  Index first = 0;
  for (Index n = 0; n < packed.numel(); ++n) {
    if (data[n] >= 0 && data[n] < size) continue;
    if (outside++ == 0) first = n;
  }
  if (outside == 0) return;
  throw ValueError(
      text(op, ": index ", data[first], " is outside 0..", size - 1),
      {.got = text("indices ", packed.shape(), ", first at ", unravel_index(first, packed.shape()),
                   ", ", outside, " of ", packed.numel(), " outside; ", operand())});
}

auto of_axis(const Tensor& x, Index axis) {
  return [&x, axis] { return text("x ", x.shape(), ", axis ", axis); };
}

/// table[index[n]] += rows[n]
void add_rows(const Tensor& table, const Tensor& rows, const Tensor& indices, Index padding_idx) {
  kernels::table().scatter_add_rows(table.dtype(), indices.numel(), table.shape()[1], table.raw(),
                                    launch::packed(rows).raw(), index_data(launch::packed(indices)),
                                    padding_idx);
}

// dweight[index[n]] += g[n];  dg = weight's gradient picked again
Tensor embedding_backward(const Tensor& gradient, const Tensor& indices, const Shape& weight_shape,
                          Index padding_idx) {
  const Tensor out = zeros(weight_shape, gradient.dtype());
  add_rows(out, gradient, indices, padding_idx);
  return record("embedding_backward", out, {gradient, indices}, Saves::input1,
                [padding_idx](const Vjp& v) {
                  const Tensor picked = embedding(v.input(1), v.grad());
                  const Tensor padding = eq(v.input(1), static_cast<double>(padding_idx));
                  return masked_fill(picked, padding.unsqueeze(-1), 0.0);
                });
}

void check_gather(const char* op, const Tensor& x, Index axis, const Tensor& index) {
  check_dtype(op, "index", index, int64);
  bool fits = index.dim() == x.dim();
  for (Index i = 0; i < x.dim() && fits; ++i) {
    fits = i == axis || index.shape()[i] <= x.shape()[i];
  }
  if (!fits) {
    throw ShapeError(text(op, ": the index does not fit x along axis ", axis),
                     {.got = text("x ", described(x), ", index ", described(index)),
                      .need = "the rank of x, and no larger sizes on the other axes"});
  }
}

/// x cut down to the sizes of the index on every axis but one.
Tensor cut_to(const Tensor& x, const Shape& index, Index axis) {
  Tensor part = x;
  for (Index i = 0; i < x.dim(); ++i) {
    if (i != axis && part.shape()[i] != index[i]) part = part.slice(i, 0, index[i]);
  }
  return part;
}

}  // namespace

// y[n] = weight[index[n]]
Tensor embedding(const Tensor& indices, const Tensor& weight, Index padding_idx) {
  check_dtype("embedding", "indices", indices, int64);
  check_floating("embedding", weight);
  if (weight.dim() != 2) {
    throw ShapeError(text("embedding: weight must have two axes (rows, width), not ", weight.dim()),
                     {.got = text("weight ", described(weight))});
  }
  if (padding_idx != kNoPadding && (padding_idx < 0 || padding_idx >= weight.size(0))) {
    throw ValueError(
        text("embedding: padding_idx ", padding_idx, " is outside 0..", weight.size(0) - 1),
        {.got = text("weight ", described(weight))});
  }
  const Tensor index = launch::packed(indices);
  check_indices("embedding", index, weight.size(0),
                [&] { return text("weight ", weight.shape()); });
  Shape shape = indices.shape();
  shape.push_back(weight.size(1));
  Tensor y(shape, weight.dtype());
  kernels::table().gather_rows(weight.dtype(), index.numel(), weight.size(1), y.raw(),
                               launch::packed(weight).raw(), index_data(index));
  return record("embedding", y, {weight, indices}, Saves::input1,
                [rows = weight.shape(), padding_idx](const Vjp& v) {
                  const Tensor sum = v.sum_so_far(0);
                  if (!sum.defined()) {
                    return embedding_backward(v.grad(), v.input(1), rows, padding_idx);
                  }
                  add_rows(sum, v.grad(), v.input(1), padding_idx);
                  return Tensor();
                });
}

// y[o, j, i] = x[o, index[o, j, i], i];  dx = g added where index points
Tensor gather(const Tensor& x, Index axis, const Tensor& index) {
  const Index a = checked_axis("gather", axis, x.dim());
  check_gather("gather", x, a, index);
  if (x.dim() == 0) return gather(x.view({1}), 0, index.view({1})).view({});
  const Tensor where = launch::packed(index);
  check_indices("gather", where, x.shape()[a], of_axis(x, a));
  const Tensor from = launch::packed(cut_to(x.detach(), index.shape(), a));
  Tensor y(index.shape(), x.dtype());
  kernels::table().gather(x.dtype(), launch::split_at(from.shape(), a), index.shape()[a], y.raw(),
                          from.raw(), index_data(where));
  return record("gather", y, {x, index}, Saves::input1, [shape = x.shape(), a](const Vjp& v) {
    return scatter_add(zeros(shape, v.grad().dtype()), a, v.input(1), v.grad());
  });
}

// y = x, and y[o, index[o, j, i], i] += source[o, j, i];  dx = g;  dsource = g where index points
Tensor scatter_add(const Tensor& x, Index axis, const Tensor& index, const Tensor& source) {
  const Index a = checked_axis("scatter_add", axis, x.dim());
  check_gather("scatter_add", x, a, index);
  check_same_dtype("scatter_add", x, source);
  check_not_bool("scatter_add", x);
  if (!(source.shape() == index.shape())) {
    throw ShapeError("scatter_add: index and source differ in shape",
                     {.got = text("index ", index.shape(), ", source ", source.shape())});
  }
  if (x.dim() == 0) {
    return scatter_add(x.view({1}), 0, index.view({1}), source.view({1})).view({});
  }
  const Tensor where = launch::packed(index);
  check_indices("scatter_add", where, x.shape()[a], of_axis(x, a));
  const Tensor y = launch::copy(x, x.dtype());
  const Tensor region = cut_to(y, index.shape(), a);
  const Tensor sums = launch::packed(region);  // y itself, unless the index covers only a part
  kernels::table().scatter_add(x.dtype(), launch::split_at(sums.shape(), a), index.shape()[a],
                               sums.raw(), launch::packed(source).raw(), index_data(where));
  if (!sums.is_same(region)) launch::copy_into(region, sums);
  return record(
      "scatter_add", y, {x, source, index}, Saves::input2, [](const Vjp& v) { return v.grad(); },
      [a](const Vjp& v) { return gather(v.grad(), a, v.input(2)); });
}

Tensor index_select(const Tensor& x, Index axis, const Tensor& index) {
  const Index a = checked_axis("index_select", axis, x.dim());
  check_dtype("index_select", "index", index, int64);
  if (index.dim() != 1 || x.dim() == 0) {
    throw ShapeError("index_select: needs a list of indices, and an axis to select from",
                     {.got = text("x ", described(x), ", index ", described(index))});
  }
  check_indices("index_select", launch::packed(index), x.shape()[a], of_axis(x, a));
  Shape shape = x.shape();
  shape[a] = index.numel();
  Shape beside = Shape::filled(x.dim(), 1);
  beside[a] = index.numel();
  return gather(x, a, index.view(beside).expand(shape));
}

Tensor one_hot(const Tensor& index, Index num_classes) {
  check_dtype("one_hot", "index", index, int64);
  const bool counted = num_classes == -1;
  if (counted && index.numel() == 0) {
    throw ValueError("one_hot: no index to count the classes by", {.hint = "give num_classes"});
  }
  const Index largest = counted ? std::max<Index>(0, max(index).to_vector<Index>()[0]) : 0;
  if (largest == std::numeric_limits<Index>::max()) throw ValueError("one_hot: too many classes");
  const Index classes = counted ? largest + 1 : num_classes;
  if (classes < 1) throw ValueError(text("one_hot: needs at least 1 class, not ", classes));
  check_indices("one_hot", launch::packed(index), classes,
                [&] { return text(classes, " classes"); });
  Shape shape = index.shape();
  shape.push_back(classes);
  return scatter_add(zeros(shape, int64), -1, index.unsqueeze(-1), ones_like(index).unsqueeze(-1));
}

}  // namespace gradus
