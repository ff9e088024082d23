// Views and what goes with them. The views themselves are methods of Tensor
// (framework/core/tensor.h): view, reshape, flatten, transpose, permute, expand, squeeze,
// unsqueeze, slice, select, as_strided, contiguous.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// The axis moved to another place; the others keep their order.
Tensor movedim(const Tensor& x, Index source, Index destination);
/// The elements along each of the axes in reverse order; a copy.
Tensor flip(const Tensor& x, const Axes& axes);
/// x with zeros above (tril) or below (triu) the diagonal of its last two axes; diagonal 1 is the
/// one above the main one. Throws ShapeError for fewer than two axes.
Tensor tril(const Tensor& x, Index diagonal = 0);
Tensor triu(const Tensor& x, Index diagonal = 0);

/// x summed over what expand() had stretched, back to `shape`: the derivative of expand.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// Zeros of `shape` with x where slice(axis, start, ..., step) would take it from: the derivative
/// of slice.
Tensor slice_backward(const Tensor& x, const Shape& shape, Index axis, Index start, Index step);

}  // namespace gradus
