// Chart panel: one drawing of a chart, with its axes and curves.
#pragma once

#include <string>

#include "examples/support/chart.h"

namespace examples {

/// The smallest and the largest of the numbers that are given to it.
struct Extent {
  double low = 0.0;
  double high = 0.0;
  bool is_empty = true;

  void add(double number);
};

/// Where a panel stands in the picture, in pixels, and what it shares with the others.
struct PanelFrame {
  double left;
  double right;
  double top;
  double bottom;
  Extent x;
  std::string x_title;
  bool numbered;  ///< each curve ends with its number
};

std::string svg(const Panel& panel, const PanelFrame& frame);

}  // namespace examples
