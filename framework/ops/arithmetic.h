// Arithmetic, elementwise with broadcasting. The operators + - * / and unary - are declared with
// Tensor (framework/core/tensor.h); these are their other spellings and the rest of the family.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// x + alpha * other
Tensor add(const Tensor& x, const Tensor& other, double alpha = 1.0);
/// x - alpha * other
Tensor sub(const Tensor& x, const Tensor& other, double alpha = 1.0);
Tensor mul(const Tensor& x, const Tensor& other);
/// True division; DTypeError for integers.
Tensor div(const Tensor& x, const Tensor& other);
Tensor neg(const Tensor& x);

/// The larger, or smaller, of each pair; NaN wins, and equal ones share the gradient equally.
Tensor maximum(const Tensor& x, const Tensor& other);
Tensor minimum(const Tensor& x, const Tensor& other);

/// Both operands seen with the shape they broadcast to. Throws ShapeError that leads with `op`.
struct Pair {
  Tensor x;
  Tensor other;
};
Pair broadcast(const char* op, const Tensor& x, const Tensor& other);

}  // namespace gradus
