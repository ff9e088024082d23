// Axis: from numbers to places on a drawing, with marks at round numbers.
#pragma once

#include <string>
#include <vector>

namespace examples {

struct AxisOptions {
  double low = 0.0;  ///< the smallest and the largest number to be shown
  double high = 1.0;
  double start = 0.0;  ///< where they come to lie, in pixels; end may be below start
  double end = 1.0;
  bool log = false;  ///< of numbers above 0
};

struct Mark {
  double place = 0.0;
  double number = 0.0;
};

class Axis {
 public:
  /// Bounds that are equal are moved apart.
  explicit Axis(const AxisOptions& options);

  double place(double number) const;
  /// At 1, 2 or 5 times a power of ten, so many as are apart enough to be read.
  std::vector<Mark> marks() const;

 private:
  AxisOptions options_;
};

/// "0.02", "1 500", "2e-05": a number as short as it is exact to six digits.
std::string round_label(double number);

}  // namespace examples
