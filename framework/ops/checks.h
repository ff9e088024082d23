// The checks that many ops share, each throwing in the words of the op that asks.
#pragma once

#include "framework/core/error.h"
#include "framework/core/tensor.h"

namespace gradus {

/// Throws DTypeError unless x is float32 or float64.
void check_floating(const char* op, const Tensor& x);

/// Throws DTypeError unless both have one dtype: Gradus never mixes them silently.
void check_same_dtype(const char* op, const Tensor& x, const Tensor& other);

/// Throws DTypeError unless x holds `wanted`; `role` names the argument.
void check_dtype(const char* op, const char* role, const Tensor& x, DType wanted);

/// Throws DTypeError for a bool tensor, which has no arithmetic.
void check_not_bool(const char* op, const Tensor& x);

/// Throws DTypeError unless a tensor of x's dtype can hold the number: integers take whole numbers
/// within 64 bits, bools 0 and 1.
void check_number(const char* op, const Tensor& x, double number);

/// The axes counted from the front, in rising order; all of them where `axes` is empty. Throws
/// ShapeError for one outside the rank or named twice.
Axes checked_axes(const char* op, const Axes& axes, Index rank);

/// Whether two elements lie in one place, as those that expand() repeats.
bool overlaps_itself(const Tensor& x);

/// "(2, 3) float32", as errors describe an operand.
std::string described(const Tensor& x);

}  // namespace gradus
