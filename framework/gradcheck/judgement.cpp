#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "framework/gradcheck/judgement_internal.h"

namespace gradus::checking {
namespace {

enum class Finding { right, at_kink, wrong };

Finding finding(const Pair& pair, double limit) {
  const Slope& slope = pair.slope;
  if (!std::isfinite(pair.analytic) || !std::isfinite(slope.value)) return Finding::wrong;
  const bool steep = std::max(std::abs(slope.least), std::abs(slope.greatest)) > limit;
  if (slope.smooth || !steep) {  // not steep and not smooth is but the noise of rounding
    return std::abs(pair.analytic - slope.value) <= limit ? Finding::right : Finding::wrong;
  }
  const bool between =
      pair.analytic >= slope.least - limit && pair.analytic <= slope.greatest + limit;
  return between ? Finding::at_kink : Finding::wrong;
}

/// |analytic - numeric|, or NaN where one of them is not finite: that counts as larger than any.
double error_of(const Pair& pair) {
  const double error = std::abs(pair.analytic - pair.slope.value);
  return std::isfinite(error) ? error : std::numeric_limits<double>::quiet_NaN();
}
bool is_larger(double error, double other) {
  return error > other || (std::isnan(error) && !std::isnan(other));
}

void add_note(GradcheckInput& row, const std::string& note) {
  row.note += (row.note.empty() ? "" : ", ") + note;
}

void describe(GradcheckInput& row, const Pair& worst) {
  row.worst_analytic = worst.analytic;
  row.worst_numeric = worst.slope.value;
  row.worst_uncertainty = worst.slope.uncertainty;
  if (row.passed) return;
  if (std::isnan(row.max_abs_error)) {
    add_note(row, "not finite");
  } else if (!worst.slope.smooth) {
    add_note(row, text("not smooth here: slopes from ", worst.slope.least, " to ",
                       worst.slope.greatest));
  }
}

double scale_of(const std::vector<Pair>& pairs) {
  double scale = 0.0;
  for (const Pair& pair : pairs) {
    const bool counts = pair.slope.smooth && std::isfinite(pair.slope.value);
    if (counts) scale = std::max(scale, std::abs(pair.slope.value));
  }
  return scale;
}

}  // namespace

void compare(GradcheckInput& row, const std::vector<Pair>& pairs,
             const std::vector<std::size_t>& elements, const GradcheckOptions& options) {
  row.scale = scale_of(pairs);
  row.limit = options.atol + options.rtol * row.scale + row.rounding;
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Finding found = finding(pairs[i], row.limit);
    if (found == Finding::at_kink) ++row.kinks;
    if (found == Finding::at_kink) continue;
    if (found == Finding::wrong) ++row.wrong;
    const double error = error_of(pairs[i]);
    if (worst && !is_larger(error, row.max_abs_error)) continue;
    worst = i;
    row.max_abs_error = error;
  }
  row.passed = row.wrong == 0;
  row.max_rel_error = row.scale > 0.0 ? row.max_abs_error / row.scale : 0.0;
  if (!worst) return;
  const auto directions = static_cast<std::size_t>(row.directions);
  if (*worst < directions) {
    row.worst_direction = static_cast<Index>(*worst);
  } else {
    row.worst = unravel_index(static_cast<Index>(elements[*worst - directions]), row.shape);
  }
  describe(row, pairs[*worst]);
}

bool is_zero(const GradcheckInput& row) { return row.scale <= row.limit; }

void comment(GradcheckInput& row, bool connected) {
  const Index elements = row.analytic.numel();
  const Index zeros = std::ranges::count(row.analytic.to_vector<double>(), 0.0);
  if (elements == 0) add_note(row, "no elements");
  if (row.passed && row.kinks < row.checked && is_zero(row)) add_note(row, "all zero, as it must");
  if (!row.passed && !connected) {
    add_note(row, "not on the tape of any output: detached, or under NoGrad?");
  } else if (!row.passed && zeros == elements) {
    add_note(row, "no gradient arrives here");
  }
  if (row.kinks > 0) add_note(row, text(row.kinks, " at a kink"));
  if (row.checked < elements) add_note(row, text(elements - row.checked, " frozen"));
}

std::string worst_name(const GradcheckInput& row) {
  if (row.worst_direction >= 0) return text("direction ", row.worst_direction);
  return element_name(row.name, row.worst);
}

}  // namespace gradus::checking
