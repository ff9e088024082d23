// Linear maps below the tape: their checks, and products of tensors seen as matrices.
#pragma once

#include "framework/autograd/node.h"
#include "framework/kernels/table.h"

namespace gradus {

/// Throws ShapeError and DTypeError unless the weight (out, in) and the bias (out), where it is
/// defined, map x (..., in).
void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

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
Matrix rows_of(const Tensor& x);

/// out = a b, plus what the start says. out is packed, and so is a bias.
void multiply(const Tensor& out, const Matrix& a, const Matrix& b, kernels::MatmulStart start = {});

/// The gradient a b of input i of a step, in the shape of `like`. Where the input has received
/// others, the product adds itself to their sum, and what is returned is undefined.
Tensor product_gradient(const Vjp& v, Index i, const Tensor& like, const Matrix& a,
                        const Matrix& b);

/// The rows of a packed tensor, all axes but the last, in one sum: (columns).
Tensor sum_of_rows(const Tensor& x);

}  // namespace gradus
