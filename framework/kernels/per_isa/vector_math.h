// exp, log, tanh, sigmoid and erf as plain arithmetic without branches, so that the compiler turns
// a loop over them into vector code of whatever width it builds for, and the tail of the loop gets
// the same digits as its body. float32: within 4 ulp; exp of float64: within 2 (log, tanh and erf
// of float64 are the standard library's).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {
namespace vector_math {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The whole numbers as long as T.
template <class T>
using Signed = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
template <class T>
using Bits = std::make_unsigned_t<Signed<T>>;

/// condition ? a : b, by bits: a compiler that sees a choice may make a branch of it, and cannot
/// turn the loop around it into vector code.
template <class T>
[[gnu::always_inline]] inline T select(bool condition, T a, T b) {
  const Bits<T> chosen = Bits<T>{0} - static_cast<Bits<T>>(condition);
  return std::bit_cast<T>((std::bit_cast<Bits<T>>(a) & chosen) |
                          (std::bit_cast<Bits<T>>(b) & ~chosen));
}

/// 2^n for a whole n that a normal number has.
template <class T>
[[gnu::always_inline]] inline T power_of_two(Signed<T> n) {
  constexpr Bits<T> kBias = std::numeric_limits<T>::max_exponent - 1;
  constexpr int kDigits = std::numeric_limits<T>::digits - 1;
  return std::bit_cast<T>((static_cast<Bits<T>>(n) + kBias) << kDigits);
}

/// The polynomial of x with these coefficients, that of the highest power first.
template <class T, class... Coefficients>
[[gnu::always_inline]] inline T polynomial(T x, T first, Coefficients... others) {
  T sum = first;
  ((sum = sum * x + others), ...);
  return sum;
}

// exp(x) = 2^n exp(r) with |r| <= ln(2)/2, and exp(r) by its Taylor series. What is below `lowest`
// gives 0, and is computed as exp(0): on its own way are subnormal numbers, which are slow. What is
// above `highest` is infinite. ln(2) is given in two parts, the first of few digits.
template <class T, class... Series>
[[gnu::always_inline]] inline T exp_by(T x, T lowest, T highest, T ln2, T rest_of_ln2,
                                       Series... series) {
  const bool is_zero = x < lowest;
  const T bounded = select(is_zero, T{0}, select(x > highest, highest, x));
  // Adding 1.5 times the least number without a fraction rounds to a whole number.
  constexpr T kRound = T{1.5} / std::numeric_limits<T>::epsilon();
  const T shifted = bounded * static_cast<T>(1.4426950408889634) + kRound;
  const T n = shifted - kRound;
  const T r = (bounded - n * ln2) - n * rest_of_ln2;
  const auto whole =
      static_cast<Signed<T>>(std::bit_cast<Signed<T>>(shifted) - std::bit_cast<Signed<T>>(kRound));
  const Signed<T> half = whole >> 1;  // two steps reach the subnormal numbers
  const T value = polynomial(r, series...) * power_of_two<T>(half) * power_of_two<T>(whole - half);
  return select(is_zero, T{0}, value);
}
[[gnu::always_inline]] inline float exp(float x) {
  return exp_by(x, -104.0F, 89.0F, 0.693359375F, -2.12194440e-4F, 1.0F / 5040, 1.0F / 720,
                1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F);
}
[[gnu::always_inline]] inline double exp(double x) {
  return exp_by(x, -746.0, 710.0, 6.93147180369123816490e-01, 1.90821492927058770002e-10,
                1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0);
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
  const float series = polynomial(-square, 1.0F / 6894720, 1.0F / 685440, 1.0F / 75600, 1.0F / 9360,
                                  1.0F / 1320, 1.0F / 216, 1.0F / 42, 1.0F / 10, 1.0F / 3, 1.0F);
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
  const float series = polynomial(t, -0.08985922F, 0.3343691F, -0.25483965F, 0.27070047F,
                                  0.029620473F, 0.11109724F, 0.0989116F);
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
