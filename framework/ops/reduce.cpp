#include "framework/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/autograd/node.h"
#include "framework/ops/axes.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/extreme.h"
#include "framework/ops/join.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"

namespace gradus {
namespace {

using launch::Reduce;

/// Runs the kernel over `axes`.
Tensor reduced(Reduce op, const Tensor& x, const Axes& axes, bool keepdim) {
  const Tensor from = with_axes_together(x, axes);
  Tensor out(reduced_shape(x.shape(), axes, keepdim), x.dtype());
  if (out.numel() > 0) {
    kernels::table().reduce(op, x.dtype(), split_around(x.shape(), axes), out.raw(), from.raw());
  }
  return out;
}

/// The gradient of a reduction, once for each element that went into it.
Tensor repeated(const Tensor& g, const Shape& shape, const Axes& axes) {
  const bool is_number = g.dim() == 0;
  return (is_number ? g : g.reshape(with_ones(shape, axes))).expand(shape);
}

// y = sqrt(x), whose derivative at 0 is taken as 0: that of a norm or deviation.
Tensor root(const Tensor& x) {
  const Tensor zero = eq(x, 0.0);
  return masked_fill(sqrt(masked_fill(x, zero, 1.0)), zero, 0.0);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What to divide slices of x by so that the squares of them neither overflow nor vanish: sizes
/// that the tape takes as constant.
Tensor unit_of(const Tensor& x, const Axes& axes) {
  const Tensor largest = amax(abs(x.detach()), axes, true);
  return masked_fill(largest, logical_or(logical_not(gt(largest, 0.0)), isinf(largest)), 1.0);
}

/// The root of the sum of squares.
Tensor length(const Tensor& x, const Axes& axes, bool keepdim) {
  const Tensor squares = sum(x * x, axes, keepdim);
  const double least = x.dtype() == float32 ? 1e-30 : 1e-290;  // below it, digits are lost
  if (all(logical_and(gt(squares, least), lt(squares, kInfinity))) || x.numel() == 0) {
    return root(squares);
  }
  const Tensor unit = unit_of(x, axes);
  const Tensor share = x / unit;
  const Tensor result = root(sum(share * share, axes, true)) * unit;
  return keepdim ? result : result.reshape(squares.shape());
}

Tensor running_sum(const Tensor& x, Index axis, bool reversed) {
  const Tensor y = empty_like(x);
  const Tensor from = launch::packed(x);
  kernels::table().cumsum(x.dtype(), launch::split_at(x.shape(), axis), y.raw(), from.raw(),
                          reversed);
  return record("cumsum", y, {x}, Saves::nothing,
                [axis, reversed](const Vjp& v) { return running_sum(v.grad(), axis, !reversed); });
}

}  // namespace

// y = sum of x;  dx = g, repeated
Tensor sum(const Tensor& x, const Axes& wanted, bool keepdim) {
  if (!is_floating(x.dtype()) && x.dtype() != int64) return sum(x.to(int64), wanted, keepdim);
  const Axes axes = checked_axes("sum", wanted, x.dim());
  const Tensor y = reduced(Reduce::sum, x, axes, keepdim);
  return record("sum", y, {x}, Saves::nothing, [shape = x.shape(), axes](const Vjp& v) {
    return repeated(v.grad(), shape, axes);
  });
}
Tensor sum(const Tensor& x) { return sum(x, {}); }

// y = mean of x;  dx = g / n, repeated
Tensor mean(const Tensor& x, const Axes& wanted, bool keepdim) {
  check_floating("mean", x);
  const Axes axes = checked_axes("mean", wanted, x.dim());
  const double count = static_cast<double>(split_around(x.shape(), axes).size);
  const Tensor y = reduced(Reduce::mean, x, axes, keepdim);
  return record("mean", y, {x}, Saves::nothing, [shape = x.shape(), axes, count](const Vjp& v) {
    return repeated(v.grad() / count, shape, axes);
  });
}
Tensor mean(const Tensor& x) { return mean(x, {}); }

Tensor prod(const Tensor& x) { return prod(x.flatten(), 0); }

// Halves multiplied together until one is left: the rule of mul is all it takes, beside zeros, too.
Tensor prod(const Tensor& x, Index axis, bool keepdim) {
  if (!is_floating(x.dtype()) && x.dtype() != int64) return prod(x.to(int64), axis, keepdim);
  const Index a = checked_axis("prod", axis, x.dim());
  if (x.dim() == 0) return x.clone();
  if (x.shape()[a] == 0) return sum(x, {a}, keepdim) + 1.0;
  Tensor product = x.shape()[a] == 1 ? x.clone() : x;
  while (product.shape()[a] > 1) {
    const Index half = product.shape()[a] / 2;
    const Tensor pairs = product.slice(a, 0, half) * product.slice(a, half, 2 * half);
    const bool odd = product.shape()[a] % 2 == 1;
    product = odd ? cat({pairs, product.slice(a, 2 * half)}, a) : pairs;
  }
  return keepdim ? product : product.squeeze(a);
}

namespace {

/// Distances from the mean, seen from a point near it, which is exactly that of equal numbers:
/// their variance is 0.
Tensor centred(const Tensor& x, const Axes& axes) {
  const Tensor near = x - mean(x.detach(), axes, true);
  return near - mean(near, axes, true);
}

double degrees_of_freedom(const Tensor& x, const Axes& axes, double correction) {
  const double count = static_cast<double>(split_around(x.shape(), axes).size);
  return std::max(0.0, count - correction);
}

}  // namespace

Tensor var(const Tensor& x, const Axes& wanted, double correction, bool keepdim) {
  check_floating("var", x);
  const Axes axes = checked_axes("var", wanted, x.dim());
  const Tensor distance = centred(x, axes);
  return sum(distance * distance, axes, keepdim) / degrees_of_freedom(x, axes, correction);
}

Tensor std(const Tensor& x, const Axes& wanted, double correction, bool keepdim) {
  check_floating("std", x);
  const Axes axes = checked_axes("std", wanted, x.dim());
  const double scale = std::sqrt(degrees_of_freedom(x, axes, correction));
  return length(centred(x, axes), axes, keepdim) / scale;
}

Tensor norm(const Tensor& x, double p, const Axes& wanted, bool keepdim) {
  check_floating("norm", x);
  const Axes axes = checked_axes("norm", wanted, x.dim());
  if (!(p > 0)) throw ValueError(text("norm: p must be above 0, not ", p));
  if (p == 1) return sum(abs(x), axes, keepdim);
  if (p == 2) return length(x, axes, keepdim);
  if (std::isinf(p)) return amax(abs(x), axes, keepdim);
  // Where an element, or all of them, are 0, a power's derivative may be infinite: take that of 1.
  const Tensor none = eq(x, 0.0);
  const Tensor sizes = abs(masked_fill(x, none, 1.0));
  const Tensor powers = sum(masked_fill(pow(sizes, p), none, 0.0), axes, keepdim);
  const Tensor zero = eq(powers, 0.0);
  return masked_fill(pow(masked_fill(powers, zero, 1.0), 1 / p), zero, 0.0);
}

// y = top + log(sum(exp(x - top))), top being the largest of x and a constant to the tape
Tensor logsumexp(const Tensor& x, const Axes& wanted, bool keepdim) {
  check_floating("logsumexp", x);
  const Axes axes = checked_axes("logsumexp", wanted, x.dim());
  const Shape kept = with_ones(x.shape(), axes);
  Tensor top = zeros(kept, x.dtype());
  if (x.numel() > 0) {
    top = amax(x.detach(), axes, true);
    top = masked_fill(top, isinf(top), 0.0);
  }
  const Tensor total = sum(exp(x - top), axes, true);
  const Tensor none = eq(total, 0.0);  // the logarithm's derivative is infinite there
  const Tensor y = masked_fill(log(masked_fill(total, none, 1.0)), none, -kInfinity) + top;
  return finished(y, x.shape(), axes, keepdim);
}

// y[j] = x[0] + ... + x[j];  dx[j] = g[j] + ... + g[n-1]
Tensor cumsum(const Tensor& x, Index axis) {
  if (!is_floating(x.dtype()) && x.dtype() != int64) return cumsum(x.to(int64), axis);
  return running_sum(x, checked_axis("cumsum", axis, x.dim()), false);
}

}  // namespace gradus
