// Small makers of tensors that many tests start from.
#pragma once

#include <limits>

#include "framework/core/random.h"
#include "framework/ops/creation.h"
#include "framework/ops/random.h"

namespace gradus::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Numbers that want a gradient.
inline Tensor leaf(const NestedNumbers& numbers, DType dtype = float64) {
  return tensor(numbers, dtype).requires_grad_();
}

/// Normal numbers from a stream of their own: the default generator stays where it is.
inline Tensor random_normal(const Shape& shape, std::uint64_t seed, DType dtype = float64) {
  Generator generator(seed);
  return randn(shape, dtype, &generator);
}

/// The same numbers with the first and the last axis swapped in memory: not contiguous, unless it
/// has fewer than two axes of more than one element.
inline Tensor stored_transposed(const Tensor& x) {
  if (x.dim() < 2) return x;
  return x.transpose(0, -1).contiguous().transpose(0, -1);
}

}  // namespace gradus::testing
