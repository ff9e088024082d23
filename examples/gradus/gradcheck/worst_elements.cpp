#include "examples/gradus/gradcheck/worst_elements.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "examples/support/format.h"
#include "examples/support/text_layout.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

constexpr std::size_t kShown = 10;
constexpr int kBarColumns = 16;
constexpr double kDecades = 8.0;  // of the limit, that a bar shows

/// "x[1, 0, 3]"
std::string element(const gradus::GradcheckInput& input, std::size_t position) {
  std::string index;
  for (const gradus::Index i :
       gradus::unravel_index(static_cast<gradus::Index>(position), input.shape)) {
    index += index.empty() ? text(i) : text(", ", i);
  }
  return text(input.name, "[", index, "]");
}

/// Full at the limit, empty eight decades below it.
std::string bar(double error, double limit, const Terminal& terminal) {
  const double decades = std::log10(std::max(error, 1e-300) / limit);
  const double share = std::isfinite(error) ? std::clamp(1.0 + decades / kDecades, 0.0, 1.0) : 1.0;
  const int filled = static_cast<int>(std::lround(share * kBarColumns));
  return repeated(terminal.pick("█", "#"), filled) + (error <= limit ? "" : " FAIL");
}

}  // namespace

std::string worst_elements(const gradus::GradcheckInput& input, const Terminal& terminal) {
  const std::string name = (input.order == 2 ? "second order, " : "") + input.name;
  if (!input.analytic.defined() || !input.numeric.defined()) {
    return " " + name + ": not checked element by element\n";
  }
  const std::vector<double> analytic = input.analytic.to_vector<double>();
  const std::vector<double> numeric = input.numeric.to_vector<double>();
  const auto error = [&](std::size_t i) {
    const double distance = std::abs(analytic[i] - numeric[i]);
    return std::isnan(distance) ? HUGE_VAL : distance;
  };
  std::vector<std::size_t> order(analytic.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return error(a) > error(b); });
  order.resize(std::min(order.size(), kShown));

  std::string table =
      " " + padded(name, 28) + "      analytic       numeric    error  of the limit\n";
  for (const std::size_t i : order) {
    table += "   " + padded(element(input, i), 26) +
             format("%14.6g%14.6g%9.1e  ", analytic[i], numeric[i], error(i)) +
             bar(error(i), input.limit, terminal) + "\n";
  }
  return table;
}

}  // namespace examples
