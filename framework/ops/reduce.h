// Sums, means and maxima over axes. Axes may be negative; an empty list of axes means all of them.
// keepdim leaves each reduced axis with size 1.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// Adds up; float32 sums are carried in double. Integers and bools give int64. Over no elements: 0.
Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, const Axes& axes, bool keepdim = false);

/// Floating only. Over no elements: NaN.
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, const Axes& axes, bool keepdim = false);

/// The largest elements; the gradient is shared equally among equal ones, and NaN wins. Throws
/// ShapeError over no elements.
Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// amax over all axes.
Tensor max(const Tensor& x);
/// The largest elements along one axis and their first positions; the gradient goes to these.
MaxResult max(const Tensor& x, Index axis, bool keepdim = false);

}  // namespace gradus
