// Extremes: the largest and smallest elements, and where they are. Axes may be negative; an empty
// list of axes means all of them. keepdim leaves each reduced axis with size 1.
#pragma once

#include <optional>

#include "framework/core/tensor.h"

namespace gradus {

/// The largest or smallest elements; the gradient is shared equally among equal ones, and NaN wins.
/// Throw ShapeError over no elements.
Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor amin(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// amax and amin over all axes.
Tensor max(const Tensor& x);
Tensor min(const Tensor& x);
/// The largest or smallest elements along one axis and their first positions; the gradient goes to
/// these.
MaxResult max(const Tensor& x, Index axis, bool keepdim = false);
MaxResult min(const Tensor& x, Index axis, bool keepdim = false);
/// First positions of the largest or smallest elements, int64: along the axis, or, without one, in
/// the flattened tensor, keepdim then leaving every axis with size 1. NaN wins.
Tensor argmax(const Tensor& x, std::optional<Index> axis = std::nullopt, bool keepdim = false);
Tensor argmin(const Tensor& x, std::optional<Index> axis = std::nullopt, bool keepdim = false);
/// The k largest (or smallest) elements along the axis, best first, and their positions; of equal
/// ones the first. NaN counts as the largest. Throws ValueError unless 0 <= k <= the axis' size.
MaxResult topk(const Tensor& x, Index k, Index axis = -1, bool largest = true);

}  // namespace gradus
