// exp, log, tanh, sigmoid and erf as plain arithmetic without branches, so that the compiler turns
// a loop over them into vector code of whatever width it builds for, and the tail of the loop gets
// the same digits as its body. float32: within 4 ulp; exp of float64: within 2 (the other functions
// of float64 are the standard library's).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {
namespace vector_math {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// condition ? a : b, by bits: a compiler that sees a choice may make a branch of it, and cannot
/// turn the loop around it into vector code.
[[gnu::always_inline]] inline float select(bool condition, float a, float b) {
  const std::uint32_t chosen = 0U - static_cast<std::uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(a) & chosen) |
                              (std::bit_cast<std::uint32_t>(b) & ~chosen));
}

[[gnu::always_inline]] inline double select(bool condition, double a, double b) {
  const std::uint64_t chosen = 0U - static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(a) & chosen) |
                               (std::bit_cast<std::uint64_t>(b) & ~chosen));
}

/// 2^n for a whole n that a normal number has.
[[gnu::always_inline]] inline double power_of_two(std::int64_t n) {
  return std::bit_cast<double>((static_cast<std::uint64_t>(n) + 1023) << 52);
}
[[gnu::always_inline]] inline float power_of_two(std::int32_t n) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(n) + 127) << 23);
}

// exp(x) = 2^n exp(r) with |r| <= ln(2)/2, and exp(r) by its Taylor series. Where it rounds to 0,
// as for all that is hidden, nothing is computed: on the way are subnormal numbers, which are slow.
[[gnu::always_inline]] inline float exp(float x) {
  const bool is_zero = x < -104.0F;
  const float bounded = select(is_zero, 0.0F, select(x > 89.0F, 89.0F, x));
  constexpr float kRound = 0x1.8p23F;  // adding and taking it away rounds to a whole number
  const float shifted = bounded * 1.44269504F + kRound;
  const float n = shifted - kRound;
  const float r = (bounded - n * 0.693359375F) - n * -2.12194440e-4F;
  float series = 1.0F / 5040;
  series = series * r + 1.0F / 720;
  series = series * r + 1.0F / 120;
  series = series * r + 1.0F / 24;
  series = series * r + 1.0F / 6;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  const std::int32_t whole =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const std::int32_t half = whole >> 1;  // two steps reach the subnormal numbers
  const float value = series * power_of_two(half) * power_of_two(whole - half);
  return select(is_zero, 0.0F, value);
}
[[gnu::always_inline]] inline double exp(double x) {
  const bool is_zero = x < -746.0;
  const double bounded = select(is_zero, 0.0, select(x > 710.0, 710.0, x));
  constexpr double kRound = 0x1.8p52;
  const double shifted = bounded * 1.4426950408889634 + kRound;
  const double n = shifted - kRound;
  const double r = (bounded - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double series = 1.0 / 6227020800;
  series = series * r + 1.0 / 479001600;
  series = series * r + 1.0 / 39916800;
  series = series * r + 1.0 / 3628800;
  series = series * r + 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  series = series * r + 1.0;
  series = series * r + 1.0;
  const std::int64_t whole =
      std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kRound);
  const std::int64_t half = whole >> 1;
  const double value = series * power_of_two(half) * power_of_two(whole - half);
  return select(is_zero, 0.0, value);
}

// log(m 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)) with m in sqrt(1/2)..sqrt(2).
[[gnu::always_inline]] inline float log(float x) {
  const bool tiny = x < 0x1p-126F;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(select(tiny, x * 0x1p24F, x));
  const std::uint32_t shifted = bits - 0x3F3504F3U;  // the bits of sqrt(1/2)
  const std::int32_t exponent = static_cast<std::int32_t>(shifted) >> 23;
  const float m = std::bit_cast<float>((shifted & 0x007FFFFFU) + 0x3F3504F3U);
  const float s = (m - 1) / (m + 1);
  const float square = s * s;
  const float series =
      2 * s + 2 * s * square * (1.0F / 3 + square * (0.2F + square * (1.0F / 7 + square / 9)));
  const float e = static_cast<float>(exponent) - select(tiny, 24.0F, 0.0F);
  const float value = (series + e * -2.12194440e-4F) + e * 0.693359375F;
  const float finite = select(x == 0, -kInfinity, select(x < 0, kNaN, value));
  return select(x < kInfinity, finite, x);  // infinity and NaN are their own logarithms
}
[[gnu::always_inline]] inline double log(double x) { return std::log(x); }

[[gnu::always_inline]] inline float sigmoid(float x) { return 1 / (1 + exp(-x)); }
[[gnu::always_inline]] inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }

[[gnu::always_inline]] inline float tanh(float x) {
  const float square = x * x;
  const float near_zero =
      x +
      x * square *
          (-1.0F / 3 + square * (2.0F / 15 + square * (-17.0F / 315 + square * (62.0F / 2835))));
  const float magnitude = std::fabs(x);
  const float far = std::copysign(1 - 2 / (exp(2 * magnitude) + 1), x);
  return select(magnitude < 0.3F, near_zero, far);
}
[[gnu::always_inline]] inline double tanh(double x) { return std::tanh(x); }

// Below 1 the Taylor series, 2/sqrt(pi) sum of (-1)^n x^(2n+1) / (n! (2n+1)); beyond, Abramowitz
// and Stegun, Handbook of Mathematical Functions, 7.1.26 (absolute error 1.5e-7).
[[gnu::always_inline]] inline float erf(float x) {
  const float square = x * x;
  float series = 1.0F / 6894720;
  series = series * -square + 1.0F / 685440;
  series = series * -square + 1.0F / 75600;
  series = series * -square + 1.0F / 9360;
  series = series * -square + 1.0F / 1320;
  series = series * -square + 1.0F / 216;
  series = series * -square + 1.0F / 42;
  series = series * -square + 1.0F / 10;
  series = series * -square + 1.0F / 3;
  series = series * -square + 1.0F;
  const float near_zero = 1.12837917F * x * series;

  const float magnitude = std::fabs(x);
  const float t = 1 / (1 + 0.3275911F * magnitude);
  const float tail =
      t * (0.254829592F +
           t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  const float far = std::copysign(1 - tail * exp(-square), x);
  return select(magnitude < 1.0F, near_zero, far);
}
[[gnu::always_inline]] inline double erf(double x) { return std::erf(x); }

/// The share of a normal distribution that lies below x, and its density there.
template <class T>
struct Normal {
  T below;
  T density;
};

// What lies beyond |x| is exp(-x^2 / 2) by a polynomial in 1 / (1 + c |x|), as in Abramowitz and
// Stegun, Handbook of Mathematical Functions, 26.2.17; ours is fitted closer (absolute error 2e-7,
// and of what is small 2e-5).
[[gnu::always_inline]] inline Normal<float> normal(float x) {
  const float bell = exp(-0.5F * x * x);
  const float t = 1 / (1 + 0.25F * std::fabs(x));
  float series = -0.08985922F;
  series = series * t + 0.3343691F;
  series = series * t - 0.25483965F;
  series = series * t + 0.27070047F;
  series = series * t + 0.029620473F;
  series = series * t + 0.11109724F;
  series = series * t + 0.0989116F;
  const float beyond = series * t * bell;
  return {select(x < 0, beyond, 1 - beyond), 0.398942280F * bell};
}
[[gnu::always_inline]] inline Normal<double> normal(double x) {
  constexpr double kRootOfHalf = 0.70710678118654752440;
  constexpr double kHighest = 0.39894228040143267794;
  return {0.5 * (1 + std::erf(x * kRootOfHalf)), kHighest * exp(-0.5 * x * x)};
}

}  // namespace vector_math
}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
