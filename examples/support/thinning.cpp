#include "examples/support/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace examples {
namespace {

/// What stays of the points of one bin.
void add_bin(std::span<const Point> bin, std::vector<Point>& kept) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t first = kNone, lowest = kNone, highest = kNone, last = kNone, gap = kNone;
  for (std::size_t i = 0; i < bin.size(); ++i) {
    if (!std::isfinite(bin[i].y)) {
      if (gap == kNone) gap = i;
      continue;
    }
    if (first == kNone) first = lowest = highest = i;
    if (bin[i].y < bin[lowest].y) lowest = i;
    if (bin[i].y > bin[highest].y) highest = i;
    last = i;
  }
  std::vector<std::size_t> places = {first, lowest, highest, last, gap};
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const std::size_t place : places) {
    if (place != kNone) kept.push_back(bin[place]);
  }
}

}  // namespace

std::vector<Point> thinned(const std::vector<Point>& points, int bins) {
  if (points.size() <= 5 * static_cast<std::size_t>(bins)) return points;
  const double start = points.front().x;
  const double length = points.back().x - start;
  const auto bin_of = [&](const Point& point) {
    const double share = length > 0.0 ? (point.x - start) / length : 0.0;
    return std::min(static_cast<int>(share * bins), bins - 1);
  };

  std::vector<Point> kept;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin + 1;
    while (end < points.size() && bin_of(points[end]) == bin_of(points[begin])) ++end;
    add_bin(std::span(points).subspan(begin, end - begin), kept);
    begin = end;
  }
  return kept;
}

}  // namespace examples
