#include "examples/support/sparkline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace examples {
namespace {

/// The mean of each share, as a logarithm; NaN where it has none.
std::vector<double> log_means(const std::vector<double>& values, std::size_t shares) {
  std::vector<double> means;
  for (std::size_t i = 0; i < shares; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / shares);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / shares);
    const double mean = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
    means.push_back(mean > 0 ? std::log(mean) : std::nan(""));
  }
  return means;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, int width, const Terminal& terminal) {
  const std::size_t bars = std::min(values.size(), static_cast<std::size_t>(std::max(width, 0)));
  const std::vector<double> heights = log_means(values, bars);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double height : heights) {
    if (!std::isfinite(height)) continue;
    low = std::min(low, height);
    high = std::max(high, height);
  }

  const std::vector<std::string> glyphs =
      terminal.unicode() ? std::vector<std::string>{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
                         : std::vector<std::string>{"_", ".", "-", "=", "+", "*", "#", "@"};
  const double last = static_cast<double>(glyphs.size() - 1);
  std::string line;
  for (const double height : heights) {
    const double share = high > low && std::isfinite(height) ? (height - low) / (high - low) : 0.0;
    line += glyphs[static_cast<std::size_t>(std::lround(share * last))];
  }
  return line;
}

}  // namespace examples
