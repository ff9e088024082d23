// Thinning: a long series of points made short enough to draw, without the loss of an extreme or a
// gap.
#pragma once

#include <vector>

namespace examples {

struct Point {
  double x = 0.0;
  double y = 0.0;  ///< not finite: a gap
};

/// Of the points whose x, all finite and rising, fall into the same one of `bins` equal parts of
/// the series, only the first, the lowest, the highest and the last stay, in their order, and one
/// gap where there was any. So no more than five times `bins` points are left.
std::vector<Point> thinned(const std::vector<Point>& points, int bins);

}  // namespace examples
