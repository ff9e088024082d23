// Chart: curves as one SVG picture that needs nothing beside itself, in light and in dark.
#pragma once

#include <string>
#include <vector>

#include "examples/support/thinning.h"

namespace examples {

/// One curve. Curves of the same number have the same colour, in every panel.
struct Curve {
  std::size_t number = 0;
  std::vector<Point> points{};
  bool dashed = false;
};

/// A drawing with axes of its own.
struct Panel {
  std::string title{};
  std::vector<Curve> curves{};
  bool log = false;      ///< the axis of y
  bool percent = false;  ///< y from 0 to 1, shown as 0 to 100 %
};

struct Chart {
  std::string title{};
  std::string x_title{};
  std::vector<Panel> panels{};
  /// What number 0, 1, ... stands for, as lines below the panels.
  std::vector<std::string> legend{};
  std::string note{};  ///< a last line below the legend
};

/// False for numbers that are none, for those too large for any axis, and, on a log scale, for 0
/// and less. They are gaps.
bool can_be_drawn(double y, const Panel& panel);

/// Long curves are thinned to what can be seen: a curve takes 60 KB at most.
std::string svg(const Chart& chart);

/// The same on a page.
std::string html(const Chart& chart);

}  // namespace examples
