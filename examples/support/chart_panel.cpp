#include "examples/support/chart_panel.h"

#include <algorithm>
#include <cmath>

#include "examples/support/axis.h"
#include "examples/support/svg_shapes.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

// Beyond these the distance of two numbers, or their ratio, may be infinite.
constexpr double kLargest = 1e150;
constexpr double kSmallest = 1e-150;

/// From 0, where all is above it and the scale is not a log scale.
Extent extent_of_y(const Panel& panel) {
  if (panel.percent) return {0.0, 1.0, false};
  Extent extent;
  for (const Curve& curve : panel.curves) {
    for (const Point& point : curve.points) {
      if (can_be_drawn(point.y, panel)) extent.add(point.y);
    }
  }
  if (extent.is_empty) return {panel.log ? 0.1 : 0.0, 1.0, false};
  if (!panel.log) extent.low = std::min(extent.low, 0.0);
  return extent;
}

class Drawing {
 public:
  Drawing(const Panel& panel, const PanelFrame& frame, Extent y)
      : panel_(panel),
        frame_(frame),
        x_({.low = frame.x.low, .high = frame.x.high, .start = frame.left, .end = frame.right}),
        y_({.low = y.low,
            .high = y.high,
            .start = frame.bottom,
            .end = frame.top,
            .log = panel.log}) {}

  std::string drawn() const {
    const auto& [left, right, top, bottom, x, x_title, numbered] = frame_;
    std::string picture = svg_text(left, top - 14, "title", panel_.title);
    for (const Mark& mark : y_.marks()) {
      picture += svg_line(left, mark.place, right, mark.place, "grid");
      picture += svg_text(left - 8, mark.place + 4, "mark end", y_label(mark.number));
    }
    for (const Mark& mark : x_.marks()) {
      picture += svg_line(mark.place, bottom, mark.place, bottom + 5, "axis");
      picture += svg_text(mark.place, bottom + 20, "mark middle", round_label(mark.number));
    }
    picture += svg_line(left, bottom, right, bottom, "axis");
    picture += svg_text(right, bottom + 38, "mark end", x_title);
    for (const Curve& curve : panel_.curves) picture += drawn(curve);
    return picture;
  }

 private:
  std::string y_label(double number) const {
    return panel_.percent ? round_label(std::round(100.0 * number)) + " %" : round_label(number);
  }

  /// One path, with a new start behind every gap; a point by itself becomes a dot.
  std::string drawn(const Curve& curve) const {
    std::string path;
    Point end{};
    bool is_open = false;
    for (const Point& point : thinned(curve.points, static_cast<int>(frame_.right - frame_.left))) {
      if (!can_be_drawn(point.y, panel_)) {
        is_open = false;
        continue;
      }
      end = {x_.place(point.x), y_.place(point.y)};
      path += (is_open ? "L" : "M") + pixel(end.x) + " " + pixel(end.y) + (is_open ? "" : "h0");
      is_open = true;
    }
    if (path.empty()) return {};
    const std::string picture =
        text("<path class=\"", curve_style(curve.number, curve.dashed), "\" d=\"", path, "\"/>\n");
    if (!frame_.numbered || curve.dashed) return picture;
    return picture + svg_text(end.x + 4, end.y + 4, "mark", std::to_string(curve.number + 1));
  }

  const Panel& panel_;
  const PanelFrame& frame_;
  Axis x_;
  Axis y_;
};

}  // namespace

bool can_be_drawn(double y, const Panel& panel) {
  return std::abs(y) <= kLargest && (!panel.log || y >= kSmallest);
}

void Extent::add(double number) {
  low = is_empty ? number : std::min(low, number);
  high = is_empty ? number : std::max(high, number);
  is_empty = false;
}

std::string svg(const Panel& panel, const PanelFrame& frame) {
  return Drawing(panel, frame, extent_of_y(panel)).drawn();
}

}  // namespace examples
