// Lost row sums: the one that the rule of softmax subtracts, or a mean. The difference between the
// two gradients is then the softmax, or 1, times one number per row.
#include <algorithm>
#include <cmath>

#include "framework/core/error.h"
#include "framework/gradcheck/diagnosis_internal.h"

namespace gradus::checking {
namespace {

using Places = std::vector<std::size_t>;

constexpr double kTells = 5.0;  // limits by which something must differ to be seen

/// The elements along `axis`, row by row.
std::vector<Places> rows_along(const Shape& shape, Index axis) {
  const Strides strides = contiguous_strides(shape);
  const Index rows = element_count(shape) / shape[axis];
  std::vector<Places> result;
  for (Index row = 0; row < rows; ++row) {
    const Index first = row / strides[axis] * strides[axis] * shape[axis] + row % strides[axis];
    Places places;
    for (Index i = 0; i < shape[axis]; ++i) {
      places.push_back(static_cast<std::size_t>(first + i * strides[axis]));
    }
    result.push_back(std::move(places));
  }
  return result;
}

/// In how many rows analytic - numeric is one number times `weights`, and not nothing.
struct RowFit {
  bool holds = true;
  Index rows = 0;
  std::size_t equations = 0;  ///< beyond those that the one number of each row takes
};

RowFit fit_of(const Evidence& evidence, const std::vector<Places>& rows, const Numbers& weights) {
  RowFit fit;
  for (const Places& row : rows) {
    double products = 0.0;
    double squares = 0.0;
    std::size_t weighty = 0;
    for (const std::size_t i : row) {
      if (!evidence.clear[i]) return {.holds = false};
      products += weights[i] * (evidence.analytic[i] - evidence.numeric[i]);
      squares += weights[i] * weights[i];
    }
    const double factor = squares > 0.0 ? products / squares : 0.0;
    for (const std::size_t i : row) {
      const double difference = evidence.analytic[i] - evidence.numeric[i];
      if (std::abs(difference - factor * weights[i]) > evidence.limit) return {.holds = false};
      if (std::abs(factor * weights[i]) > kTells * evidence.limit) ++weighty;
    }
    if (weighty == 0) continue;
    ++fit.rows;
    fit.equations += weighty - 1;
  }
  return fit;
}

bool sums_to(const Numbers& numbers, const std::vector<Places>& rows, double sum, double limit) {
  return std::ranges::all_of(rows, [&](const Places& row) {
    double total = -sum;
    for (const std::size_t i : row) total += numbers[i];
    return std::abs(total) <= limit * static_cast<double>(row.size());
  });
}

/// The numbers of a softmax along these rows, if this is one, or the logarithm of one.
std::optional<Numbers> softmax_in(const Tensor& value, const std::vector<Places>& rows) {
  constexpr double kRounding = 1e-12;
  Numbers numbers = value.to_vector<double>();
  const auto is_softmax = [&] {
    return std::ranges::all_of(numbers, [](double y) { return y >= 0.0; }) &&
           sums_to(numbers, rows, 1.0, kRounding);
  };
  if (is_softmax()) return numbers;
  for (double& number : numbers) number = std::exp(number);
  if (is_softmax()) return numbers;
  return std::nullopt;
}

Diagnosis lost_sum(const std::string& difference, const RowFit& fit, std::size_t rows, Index axis,
                   const std::string& cause) {
  return {.fault = Fault::row_sum,
          .holds = fit.rows,
          .of = static_cast<Index>(rows),
          .pattern = text("analytic - numeric is ", difference, " in ", fit.rows, " of ", rows,
                          " rows along axis ", axis),
          .cause = text(cause, " along axis ", axis)};
}

}  // namespace

std::optional<Diagnosis> find_row_sum(const Evidence& evidence) {
  if (!evidence.elementwise || !evidence.values || evidence.wrong().size() < 2) return std::nullopt;
  const std::vector<NamedValue> values = evidence.values();
  for (Index axis = evidence.shape.size() - 1; axis >= 0; --axis) {
    if (evidence.shape[axis] < 2) continue;
    const std::vector<Places> rows = rows_along(evidence.shape, axis);
    for (const NamedValue& value : values) {
      const std::optional<Numbers> y = softmax_in(value.value, rows);
      if (!y) continue;
      const RowFit fit = fit_of(evidence, rows, *y);
      if (!fit.holds || fit.equations < 3) continue;
      return lost_sum(text("the softmax of step ", value.op, " times one number per row"), fit,
                      rows.size(), axis, "the rule of softmax lacks its row sum, sum(g * y)");
    }
    const RowFit fit = fit_of(evidence, rows, Numbers(evidence.size(), 1.0));
    const bool is_centred = sums_to(evidence.numeric, rows, 0.0, evidence.limit);
    if (!fit.holds || fit.equations < 3 || !is_centred) continue;
    return lost_sum("one number per row, and numeric sums to 0,", fit, rows.size(), axis,
                    "the rule lacks the mean that it must subtract");
  }
  return std::nullopt;
}

}  // namespace gradus::checking
