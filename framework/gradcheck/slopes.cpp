#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/gradcheck/slopes_internal.h"

namespace gradus::checking {
namespace {

constexpr double kKink = 0.01;   // a jump of the slope by this share of itself
constexpr double kNoise = 64.0;  // roundings between input and output, in units of the last place

/// The part of one output in the slope between two points of the neighbourhood.
double term(const Neighbourhood& near, const Numbers& weights, std::size_t i, std::size_t from,
            std::size_t to) {
  const double low = near.values[from][i];
  const double high = near.values[to][i];
  // Equal infinities (a score that stays masked) have a slope of 0.
  return low == high ? 0.0 : weights[i] * ((high - low) / (near.x[to] - near.x[from]));
}

double slope_between(const Neighbourhood& near, const Numbers& weights, std::size_t from,
                     std::size_t to) {
  double slope = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) slope += term(near, weights, i, from, to);
  return slope;
}

}  // namespace

// With D(h) = (L(x + h) - L(x - h)) / 2h the error of D(h) + (D(h) - D(2h)) / 3 falls with h^4. The
// bend, right slope minus left, doubles with h where L is smooth, and is constant at a kink.
Slope extrapolated(const Neighbourhood& near, const Numbers& weights) {
  const auto between = [&](std::size_t from, std::size_t to) {
    return slope_between(near, weights, from, to);
  };
  const double one_step = between(1, 3);
  const double two_steps = between(0, 4);
  const std::array<double, 4> sides{between(0, 2), between(1, 2), between(2, 3), between(2, 4)};
  const double off = std::abs(one_step - two_steps);

  Slope slope;
  slope.value = one_step + (one_step - two_steps) / 3.0;
  slope.uncertainty = off;
  slope.least = *std::ranges::min_element(sides);
  slope.greatest = *std::ranges::max_element(sides);
  const double from_left = 2.0 * sides[1] - sides[0];
  const double from_right = 2.0 * sides[2] - sides[3];
  slope.jump = std::abs(from_right - from_left);
  slope.smooth = std::max(slope.jump, off) <=
                 kKink * std::max(std::abs(slope.least), std::abs(slope.greatest));
  // Where the two sides meet in one slope and only bend differently, as x * |x| does at 0, each
  // side tells that slope by itself.
  if (!slope.smooth && slope.jump <= kKink * off) {
    slope.value = (from_left + from_right) / 2.0;
    slope.smooth = true;
  }
  return slope;
}

Numbers terms_of(const Neighbourhood& near, const Numbers& weights) {
  Numbers terms;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double one_step = term(near, weights, i, 1, 3);
    terms.push_back(one_step + (one_step - term(near, weights, i, 0, 4)) / 3.0);
  }
  return terms;
}

bool left_the_domain(const Neighbourhood& near) {
  for (const Numbers& moved : near.values) {
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (!std::isfinite(moved[i]) && std::isfinite(near.values[2][i])) return true;
    }
  }
  return false;
}

double rounding_of(const Numbers& weights, const Numbers& values, double step) {
  double squares = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weighted = weights[i] * values[i];
    if (std::isfinite(weighted)) squares += weighted * weighted;
  }
  return kNoise * std::numeric_limits<double>::epsilon() * std::sqrt(squares) / step;
}

}  // namespace gradus::checking
