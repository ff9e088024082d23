// Launch: runs kernels on tensors. Allocates the result, hands over pointers and strides, and
// records nothing; the ops around it check their operands first and record themselves after.
#pragma once

#include "framework/core/tensor.h"
#include "framework/kernels/table.h"

namespace gradus::launch {

using kernels::AxisSplit;
using kernels::Binary;
using kernels::Compare;
using kernels::Reduce;
using kernels::Unary;

// ---- elementwise; operands of one shape, any strides ----
Tensor unary(Unary op, const Tensor& x);
Tensor binary(Binary op, const Tensor& a, const Tensor& b);
Tensor binary(Binary op, const Tensor& a, double b);
Tensor binary(Binary op, double a, const Tensor& b);
Tensor compare(Compare op, const Tensor& a, const Tensor& b);
Tensor compare(Compare op, const Tensor& a, double b);
Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor select(const Tensor& condition, double a, const Tensor& b);
/// A row-major copy, of another dtype where they differ.
Tensor copy(const Tensor& x, DType dtype);

// ---- into an existing tensor of the same shape, any strides; nobody's version is changed ----
void copy_into(const Tensor& out, const Tensor& x);
void fill(const Tensor& out, double value);
void add_scaled_into(const Tensor& out, const Tensor& x, double alpha);
void binary_into(Binary op, const Tensor& out, const Tensor& a, const Tensor& b);
void select_into(const Tensor& out, const Tensor& condition, double a, const Tensor& b);

/// x, or a row-major copy where it has gaps; off the tape.
Tensor packed(const Tensor& x);
/// The same of an operand that may be undefined, and then stays so.
Tensor packed_if_defined(const Tensor& x);
/// Its first number, or null where it is undefined.
void* raw_or_null(const Tensor& x);

/// A row-major shape around one axis.
AxisSplit split_at(const Shape& shape, Index axis);

}  // namespace gradus::launch
