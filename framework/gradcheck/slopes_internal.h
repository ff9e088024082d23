// Slopes: finite differences at two step sizes, extrapolated (Richardson), with what is known of
// their error: how far the two sizes disagree, what the outputs' rounding leaves uncertain, and
// whether there is a kink. Internal to gradcheck.
#pragma once

#include <array>

#include "framework/gradcheck/elements_internal.h"

namespace gradus::checking {

inline constexpr double kRelativeStep = 6e-6;  // about the cube root of float64's rounding

/// The slope of L, the weighted sum of the outputs, by one element or along one direction.
struct Slope {
  double value = 0.0;
  double uncertainty = 0.0;  ///< how far the slopes of the two step sizes disagree
  /// The least and the greatest of the slopes on either side, and whether they are one slope.
  double least = 0.0;
  double greatest = 0.0;
  double jump = 0.0;  ///< what of their difference is no curvature: it does not grow with the step
  bool smooth = true;
  bool frozen = false;  ///< not moved: the gradient is to be 0
};

/// The values of the outputs around a point: one and two steps below, at it, one and two above.
struct Neighbourhood {
  std::array<double, 5> x;
  std::array<Numbers, 5> values;
};

/// The slope of sum(weights * values).
Slope extrapolated(const Neighbourhood& near, const Numbers& weights);

/// The same for each output by itself: the terms whose sum that slope is.
Numbers terms_of(const Neighbourhood& near, const Numbers& weights);

/// Whether a value is not finite, though the output was so at the point itself: the step was too
/// long, as it is for log near 0.
bool left_the_domain(const Neighbourhood& near);

/// What the rounding of the outputs may come to in a slope over `step`.
double rounding_of(const Numbers& weights, const Numbers& values, double step);

}  // namespace gradus::checking
