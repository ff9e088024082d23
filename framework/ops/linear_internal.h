// Linear maps below the tape: their checks, and products of tensors seen as matrices.
#pragma once

#include "framework/core/tensor.h"

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

/// out = a b, plus the bias, where it is defined, in every row. out is packed; bias too.
void multiply(const Tensor& out, const Matrix& a, const Matrix& b, const Tensor& bias = {});

/// The rows of a packed tensor, all axes but the last, in one sum: (columns).
Tensor sum_of_rows(const Tensor& x);

}  // namespace gradus
