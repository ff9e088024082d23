// What reductions share: lists of axes, and arrays cut around them.
#pragma once

#include "framework/core/tensor.h"
#include "framework/kernels/table.h"

namespace gradus {

/// `shape` with each of the axes shrunk to 1.
Shape with_ones(const Shape& shape, const Axes& axes);

/// `shape` without the axes.
Shape without(const Shape& shape, const Axes& axes);

/// What a reduction leaves: the one with keepdim, else the other.
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdim);

/// For kernels: x row-major, with the axes side by side, so that they are one to a kernel:
/// last, unless they are neighbours already.
Tensor with_axes_together(const Tensor& x, const Axes& axes);

/// The numbers of elements before, in and after the axes, as with_axes_together lays them out.
kernels::AxisSplit split_around(const Shape& shape, const Axes& axes);

/// A result whose reduced axes have size 1, without them unless keepdim.
Tensor finished(const Tensor& result, const Shape& shape, const Axes& axes, bool keepdim);

}  // namespace gradus
