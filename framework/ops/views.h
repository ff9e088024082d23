// Views and what goes with them. The views themselves are methods of Tensor
// (framework/core/tensor.h): view, reshape, flatten, transpose, permute, expand, squeeze,
// unsqueeze, slice, select, contiguous.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// The tensors one after another along an axis; all other sizes equal. Throws ShapeError,
/// DTypeError, ValueError for an empty list.
Tensor cat(const std::vector<Tensor>& tensors, Index axis = 0);

/// x summed over what expand() had stretched, back to `shape`: the derivative of expand.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// Zeros of `shape` with x where slice(axis, start, ..., step) would take it from: the derivative
/// of slice.
Tensor slice_backward(const Tensor& x, const Shape& shape, Index axis, Index start, Index step);

}  // namespace gradus
