// Comparisons, elementwise with broadcasting; the results are bool tensors and have no gradient.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

// Throw DTypeError where the dtypes differ and ShapeError where the shapes do not broadcast. NaN
// equals nothing.
Tensor eq(const Tensor& x, const Tensor& other);
Tensor ne(const Tensor& x, const Tensor& other);
Tensor lt(const Tensor& x, const Tensor& other);
Tensor le(const Tensor& x, const Tensor& other);
Tensor gt(const Tensor& x, const Tensor& other);
Tensor ge(const Tensor& x, const Tensor& other);
Tensor eq(const Tensor& x, double other);
Tensor ne(const Tensor& x, double other);
Tensor lt(const Tensor& x, double other);
Tensor le(const Tensor& x, double other);
Tensor gt(const Tensor& x, double other);
Tensor ge(const Tensor& x, double other);

/// Logic on bool tensors; DTypeError for others.
Tensor logical_or(const Tensor& x, const Tensor& other);
Tensor logical_and(const Tensor& x, const Tensor& other);
Tensor logical_not(const Tensor& x);

Tensor logical_xor(const Tensor& x, const Tensor& other);

Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);

/// Whether any, or every, element is true. (A plain bool: there is nothing to chain.)
bool any(const Tensor& x);
bool all(const Tensor& x);

/// Whether |x - other| <= atol + rtol * |other| everywhere: shapes and dtypes must be equal, equal
/// infinities are close, and NaN is close to nothing unless equal_nan.
bool allclose(const Tensor& x, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);

}  // namespace gradus
