#include "framework/ops/linear_internal.h"

#include "framework/ops/checks.h"
#include "framework/ops/creation.h"

namespace gradus {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
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

Matrix rows_of(const Tensor& x) {
  Index rows = 1;
  for (Index axis = 0; axis + 1 < x.dim(); ++axis) rows *= x.shape()[axis];
  const Index columns = x.shape().back();
  return {x.raw(), rows, columns, columns, 1};
}

void multiply(const Tensor& out, const Matrix& a, const Matrix& b, kernels::MatmulStart start) {
  if (out.numel() == 0) return;
  kernels::table().matmul(out.dtype(),
                          {.batch_rank = 0,
                           .batch_sizes = nullptr,
                           .rows = a.rows,
                           .columns = b.columns,
                           .inner = a.columns},
                          out.raw(), {a.data, nullptr, a.row_stride, a.column_stride},
                          {b.data, nullptr, b.row_stride, b.column_stride}, start);
}

Tensor product_gradient(const Vjp& v, Index i, const Tensor& like, const Matrix& a,
                        const Matrix& b) {
  const Tensor sum = v.sum_so_far(i);
  if (sum.defined()) {
    multiply(sum, a, b, {.accumulate = true});
    return {};
  }
  const Tensor product = empty_like(like);
  multiply(product, a, b);
  return product;
}

Tensor sum_of_rows(const Tensor& x) {
  const Matrix matrix = rows_of(x);
  const Tensor sum = empty({matrix.columns}, x.dtype());
  kernels::table().reduce(kernels::Reduce::sum, x.dtype(), {1, matrix.rows, matrix.columns},
                          sum.raw(), x.raw());
  return sum;
}

}  // namespace gradus
