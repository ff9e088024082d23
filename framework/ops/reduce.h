// Sums, means and their kin over axes. Axes may be negative; an empty list of axes means
// all of them. keepdim leaves each reduced axis with size 1. What there is of a single axis throws
// ShapeError for one outside the rank.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// Adds up; float32 sums are carried in double. Integers and bools give int64. Over no elements: 0.
Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, const Axes& axes, bool keepdim = false);

/// Floating only. Over no elements: NaN.
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, const Axes& axes, bool keepdim = false);

/// Multiplies; the derivative is right beside zeros, too. Over no elements: 1.
Tensor prod(const Tensor& x);
Tensor prod(const Tensor& x, Index axis, bool keepdim = false);

/// Mean squared distance from the mean, with n - correction below the line (1: Bessel's; 0: of the
/// population). Floating only. NaN or inf where that is 0 or less.
Tensor var(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keepdim = false);
/// sqrt(var(x)), also where the variance is beyond the dtype; the derivative is 0 where the
/// deviation is. Say gradus::std(x) under `using namespace gradus`: std alone names two things.
Tensor std(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keepdim = false);

/// (sum |x|^p)^(1/p); the largest |x| for p = infinity. The derivative where the norm is 0 is 0.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, bool keepdim = false);

/// log(sum(exp(x))), without overflow. Over no elements, or -inf throughout: -inf, with a gradient
/// of 0.
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim = false);

/// Running sums along the axis.
Tensor cumsum(const Tensor& x, Index axis);

}  // namespace gradus
