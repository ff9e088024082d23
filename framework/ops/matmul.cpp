#include "framework/ops/matmul.h"

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

Index rows_of(const Tensor& x) { return x.shape()[x.dim() - 2]; }
Index columns_of(const Tensor& x) { return x.shape()[x.dim() - 1]; }

/// The last two axes as matrices for the kernel, which wants a stride of 1 in one of them.
kernels::Matrices matrices(const Tensor& x) {
  return {x.raw(), x.strides().data(), x.strides()[x.dim() - 2], x.strides()[x.dim() - 1]};
}

Tensor readable(const Tensor& x) {
  const Index row = x.strides()[x.dim() - 2];
  const Index column = x.strides()[x.dim() - 1];
  const Index rows = rows_of(x);
  const Index columns = columns_of(x);
  const bool by_rows = column == 1 && (row >= columns || row == 0 || rows == 1);
  const bool by_columns = row == 1 && (column >= rows || column == 0 || columns == 1);
  return by_rows || by_columns ? x : launch::copy(x, x.dtype());
}

// y = a b for stacks of matrices of equal number;  da = g bT;  db = aT g
Tensor product(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  shape[a.dim() - 1] = columns_of(b);
  Tensor out(shape, a.dtype());
  if (out.numel() > 0) {
    const Tensor left = readable(a);
    const Tensor right = readable(b);
    const kernels::MatmulSizes sizes{.batch_rank = a.dim() - 2,
                                     .batch_sizes = shape.data(),
                                     .rows = rows_of(a),
                                     .columns = columns_of(b),
                                     .inner = columns_of(a)};
    kernels::table().matmul(a.dtype(), sizes, out.raw(), matrices(left), matrices(right), {});
  }
  return record(
      "matmul", out, {a, b}, Saves::inputs,
      [](const Vjp& v) { return product(v.grad(), transposed(v.input(1))); },
      [](const Vjp& v) { return product(transposed(v.input(0)), v.grad()); });
}

Tensor with_batch(const Tensor& x, Shape batch) {
  batch.push_back(rows_of(x));
  batch.push_back(columns_of(x));
  return x.expand(batch);
}

/// Both operands have at least two axes here.
Tensor batched(const Tensor& x, const Tensor& other) {
  if (x.dim() == 2 && other.dim() == 2) return product(x, other);
  if (other.dim() == 2) {  // one matrix for the whole batch: all rows in one product
    Shape shape = x.shape();
    shape[x.dim() - 1] = columns_of(other);
    return product(x.flatten(0, -2), other).view(shape);
  }
  const Shape batch = broadcast_batch("matmul", x.shape(), other.shape());
  return product(with_batch(x, batch), with_batch(other, batch));
}

}  // namespace

Tensor matmul(const Tensor& x, const Tensor& other) {
  check_floating("matmul", x);
  check_same_dtype("matmul", x, other);
  if (x.dim() == 0 || other.dim() == 0) {
    throw ShapeError(
        "matmul: a tensor without axes is no matrix",
        {.got = text("x ", described(x), ", other ", described(other)), .hint = "x * other"});
  }
  const Index inner = other.size(other.dim() == 1 ? 0 : -2);
  if (x.size(-1) != inner) {
    throw ShapeError(text("matmul: inner sizes differ (", x.size(-1), " vs ", inner, ")"),
                     {.got = text("x ", described(x), ", other ", described(other)),
                      .need = "the last axis of x equal to the last but one of other"});
  }
  const Tensor left = x.dim() == 1 ? x.unsqueeze(0) : x;
  const Tensor right = other.dim() == 1 ? other.unsqueeze(1) : other;
  Tensor result = batched(left, right);
  if (x.dim() == 1) result = result.squeeze(-2);
  if (other.dim() == 1) result = result.squeeze(-1);
  return result;
}

}  // namespace gradus
