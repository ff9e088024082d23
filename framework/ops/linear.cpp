#include "framework/ops/linear.h"

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"

namespace gradus {
namespace {

void check_operands(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_floating("linear", x);
  check_same_dtype("linear", x, weight);
  if (bias.defined()) check_same_dtype("linear", x, bias);
  if (weight.dim() != 2) {
    throw ShapeError(text("linear: weight must have two axes (out, in), not ", weight.dim()),
                     {.got = text("weight ", described(weight))});
  }
  if (x.dim() == 0 || x.size(-1) != weight.size(1)) {
    throw ShapeError(text("linear: x has ", x.dim() == 0 ? 0 : x.size(-1),
                          " features, the weight takes ", weight.size(1)),
                     {.got = text("x ", described(x), ", weight ", described(weight)),
                      .need = text("x (..., ", weight.size(1), ")")});
  }
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != weight.size(0))) {
    throw ShapeError(
        text("linear: the bias must have one number for each of the ", weight.size(0), " outputs"),
        {.got = text("bias ", described(bias), ", weight ", described(weight))});
  }
}

/// A matrix where it lies.
struct Matrix {
  void* data;
  Index rows;
  Index columns;
  Index row_stride;
  Index column_stride;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

/// A packed tensor as a matrix: all axes but the last as its rows.
Matrix rows_of(const Tensor& x) {
  Index rows = 1;
  for (Index axis = 0; axis + 1 < x.dim(); ++axis) rows *= x.shape()[axis];
  const Index columns = x.shape().back();
  return {x.raw(), rows, columns, columns, 1};
}

/// out = a b, plus the bias in every row.
void multiply(const Tensor& out, const Matrix& a, const Matrix& b, const Tensor& bias = {}) {
  if (out.numel() == 0) return;
  kernels::table().matmul(out.dtype(),
                          {.batch_rank = 0,
                           .batch_sizes = nullptr,
                           .rows = a.rows,
                           .columns = b.columns,
                           .inner = a.columns},
                          out.raw(), {a.data, nullptr, a.row_stride, a.column_stride},
                          {b.data, nullptr, b.row_stride, b.column_stride},
                          {.bias = launch::raw_or_null(bias)});
}

Gradients gradients_by_kernel(const Vjp& v) {
  const Tensor g = launch::packed(v.grad());
  const Tensor x = launch::packed(v.input(0));
  const Tensor weight = launch::packed(v.input(1));
  const Matrix g_rows = rows_of(g);
  Gradients all(3);
  if (v.wants(0)) multiply(all[0] = empty_like(x), g_rows, rows_of(weight));
  if (v.wants(1)) multiply(all[1] = empty_like(weight), g_rows.transposed(), rows_of(x));
  if (v.wants(2)) {
    all[2] = empty({g_rows.columns}, g.dtype());
    kernels::table().reduce(kernels::Reduce::sum, g.dtype(), {1, g_rows.rows, g_rows.columns},
                            all[2].raw(), g.raw());
  }
  return all;
}

/// The same by ops, whose results can be differentiated again.
Gradients gradients_by_ops(const Vjp& v) {
  const auto rows = [](const Tensor& x) {
    return x.dim() == 1 ? x.unsqueeze(0) : x.flatten(0, -2);
  };
  const Tensor g = rows(v.grad());
  Gradients all(3);
  if (v.wants(0)) all[0] = matmul(v.grad(), v.input(1));
  if (v.wants(1)) all[1] = matmul(g.transpose(0, 1), rows(v.input(0)));
  if (v.wants(2)) all[2] = sum(g, {0});
  return all;
}

}  // namespace

// y = x WT + b;  dx = g W;  dW = gT x;  db = sum of g's rows
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_operands(x, weight, bias);
  Shape shape = x.shape();
  shape[x.dim() - 1] = weight.size(0);
  const Tensor y = empty(shape, x.dtype());
  const Tensor x_packed = launch::packed(x);
  const Tensor weight_packed = launch::packed(weight);
  multiply(y, rows_of(x_packed), rows_of(weight_packed).transposed(),
           launch::packed_if_defined(bias));
  return record("linear", y, {x, weight, bias}, Saves::input0 | Saves::input1, [](const Vjp& v) {
    return grad_enabled() ? gradients_by_ops(v) : gradients_by_kernel(v);
  });
}

}  // namespace gradus
