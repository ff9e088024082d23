#include "framework/ops/rotary.h"

#include <cmath>

#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"

namespace gradus {
namespace {

void check_rotary(const Tensor& x) {
  check_floating("rotary_embedding", x);
  if (x.dim() < 2 || x.size(-1) % 2 != 0) {
    throw ShapeError("rotary_embedding: needs (..., length, d) with an even d",
                     {.got = text("x ", described(x))});
  }
}

}  // namespace

Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, RotaryPairs pairs) {
  check_rotary(x);
  const Index half = x.size(-1) / 2;
  Shape pair_shape = x.shape();
  pair_shape[x.dim() - 1] = half;
  for (const Tensor& angles : {cos, sin}) {
    check_same_dtype("rotary_embedding", x, angles);
    if (!(broadcast_shape("rotary_embedding", pair_shape, angles.shape()) == pair_shape)) {
      throw ShapeError(
          "rotary_embedding: the angles are more than x has pairs",
          {.got = text("x ", described(x), ", cos ", cos.shape(), ", sin ", sin.shape())});
    }
  }
  const bool interleaved = pairs == RotaryPairs::interleaved;
  const Tensor a = interleaved ? x.slice(-1, 0, std::nullopt, 2) : x.slice(-1, 0, half);
  const Tensor b = interleaved ? x.slice(-1, 1, std::nullopt, 2) : x.slice(-1, half);
  const Tensor first = a * cos - b * sin;
  const Tensor second = a * sin + b * cos;
  if (interleaved) return stack({first, second}, -1).view(x.shape());
  return cat({first, second}, -1);
}

Tensor rotary_embedding(const Tensor& x, Index first, double base, RotaryPairs pairs) {
  check_rotary(x);
  if (!(base > 0)) throw ValueError(text("rotary_embedding: base must be above 0, not ", base));
  const Index half = x.size(-1) / 2;
  const auto start = static_cast<double>(first);
  const Tensor positions = arange(start, start + static_cast<double>(x.size(-2)), 1, float64);
  const Tensor exponents = arange(static_cast<double>(half), float64) / static_cast<double>(half);
  const Tensor angles = positions.unsqueeze(1) * exp(exponents * -std::log(base));
  return rotary_embedding(x, cos(angles).to(x.dtype()), sin(angles).to(x.dtype()), pairs);
}

}  // namespace gradus
