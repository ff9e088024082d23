#include "examples/support/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "examples/support/format.h"

namespace examples {
namespace {

constexpr double kPixelsPerMark = 56.0;
constexpr int kFewestDecades = 2;  // with fewer, 2 and 5 times a power of ten are marked as well

/// 1, 2 or 5 times a power of ten, and no less than `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

std::vector<double> linear_numbers(double low, double high, double step) {
  std::vector<double> numbers;
  const double slack = 1e-9 * (high - low);
  for (double count = std::ceil((low - slack) / step); count * step <= high + slack; ++count) {
    numbers.push_back(count * step);
  }
  return numbers;
}

std::vector<double> log_numbers(double low, double high, double most) {
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const int stride = std::max(1, static_cast<int>(std::ceil((last - first) / most)));
  std::vector<double> factors = {1.0};
  if (last - first <= kFewestDecades) factors = {1.0, 2.0, 5.0};
  std::vector<double> numbers;
  for (int decade = first; decade <= last; decade += stride) {
    for (const double factor : factors) {
      const double number = factor * std::pow(10.0, decade);
      if (number >= low * (1.0 - 1e-9) && number <= high * (1.0 + 1e-9)) numbers.push_back(number);
    }
  }
  return numbers;
}

}  // namespace

Axis::Axis(const AxisOptions& options) : options_(options) {
  if (options_.high > options_.low) return;
  if (options_.log) {
    options_.high = options_.low * 2.0;
    options_.low /= 2.0;
  } else {
    const double margin = std::max(std::abs(options_.low) * 0.1, 0.5);
    options_.high = options_.low + margin;
    options_.low -= margin;
  }
}

double Axis::place(double number) const {
  const auto& [low, high, start, end, log] = options_;
  const double share =
      log ? std::log(number / low) / std::log(high / low) : (number - low) / (high - low);
  return start + share * (end - start);
}

std::vector<Mark> Axis::marks() const {
  const auto& [low, high, start, end, log] = options_;
  const double most = std::max(std::floor(std::abs(end - start) / kPixelsPerMark), 2.0);
  const std::vector<double> numbers =
      log ? log_numbers(low, high, most)
          : linear_numbers(low, high, round_step((high - low) / most));
  std::vector<Mark> marks;
  for (const double number : numbers) marks.push_back({place(number), number});
  return marks;
}

std::string round_label(double number) {
  if (number == 0.0) return "0";  // and not "-0"
  const bool is_whole = number == std::round(number) && std::abs(number) < 1e9;
  return is_whole ? grouped(static_cast<std::int64_t>(number)) : format("%.6g", number);
}

}  // namespace examples
