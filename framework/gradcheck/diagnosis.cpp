// The order of the search, and the patterns of place: zeros, leaks and transposes.
#include "framework/gradcheck/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "framework/core/error.h"
#include "framework/gradcheck/diagnosis_internal.h"

namespace gradus {

const char* fault_name(Fault fault) {
  switch (fault) {
    case Fault::none: return "none";
    case Fault::unclear: return "unclear";
    case Fault::factor: return "constant factor";
    case Fault::sign: return "flipped sign";
    case Fault::transpose: return "transpose";
    case Fault::disconnected: return "disconnected";
    case Fault::row_sum: return "lost row sum";
    case Fault::leak: return "leak where masked";
    case Fault::accumulation: return "lost accumulation";
  }
  return "none";
}

namespace checking {
namespace {

using Places = std::vector<std::size_t>;

Index count(const Places& places) { return static_cast<Index>(places.size()); }

/// Zero in every wrong element, where the function does have a slope.
std::optional<Diagnosis> find_zeros(const Evidence& evidence) {
  const Places wrong = evidence.wrong();
  const Places telling = evidence.telling();
  const bool all_zero =
      std::ranges::all_of(wrong, [&](std::size_t i) { return evidence.analytic[i] == 0.0; });
  const bool everywhere = wrong.size() == telling.size();
  if (!all_zero || telling.empty() || (wrong.size() < 2 && !everywhere)) return std::nullopt;
  const bool some_arrives =
      std::ranges::any_of(evidence.analytic, [](double number) { return number != 0.0; });
  return Diagnosis{.fault = Fault::disconnected,
                   .holds = count(wrong),
                   .of = count(telling),
                   .pattern = text("analytic is 0, numeric is not, in ", wrong.size(), " of ",
                                   telling.size(), " ", evidence.unit(), location(evidence, wrong)),
                   .cause = some_arrives
                                ? "the gradient of these elements is dropped on its way"
                                : "disconnected: no gradient arrives at this input at all"};
}

/// Not zero in elements that the function does not look at, right in all others.
std::optional<Diagnosis> find_leak(const Evidence& evidence) {
  const Places wrong = evidence.wrong();
  const bool all_flat =
      std::ranges::all_of(wrong, [&](std::size_t i) { return evidence.numeric[i] == 0.0; });
  if (!evidence.elementwise || !all_flat || wrong.size() < 2) return std::nullopt;
  const bool is_used = !evidence.telling().empty();
  const Index flat = std::ranges::count(evidence.numeric, 0.0);
  return Diagnosis{
      .fault = Fault::leak,
      .holds = count(wrong),
      .of = flat,
      .pattern = text("numeric is exactly 0, analytic is not, in ", wrong.size(), " of ", flat,
                      " elements without a slope", location(evidence, wrong),
                      is_used ? "; all others are right" : ""),
      .cause = is_used ? "the rule lets gradient through at positions that are masked or cut off"
                       : "the function does not change with this input, its rule says it does"};
}

/// Whether analytic, read element by element, is numeric with two axes exchanged.
bool is_transposed(const Evidence& evidence, Index a, Index b) {
  Shape turned = evidence.shape;
  std::swap(turned[a], turned[b]);
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    IndexList source = unravel_index(static_cast<Index>(i), turned);
    std::swap(source[a], source[b]);
    const std::size_t j = nth_of(evidence.shape, source);
    const bool clear = evidence.clear[i] && evidence.clear[j];
    if (clear && std::abs(evidence.analytic[i] - evidence.numeric[j]) > evidence.limit) {
      return false;
    }
  }
  return true;
}

std::optional<Diagnosis> find_transpose(const Evidence& evidence) {
  if (!evidence.elementwise || evidence.wrong().size() < 2) return std::nullopt;
  for (Index a = 0; a < evidence.shape.size(); ++a) {
    for (Index b = a + 1; b < evidence.shape.size(); ++b) {
      const bool square = evidence.shape[a] == evidence.shape[b];
      if (evidence.shape[a] < 2 || evidence.shape[b] < 2 || !is_transposed(evidence, a, b)) {
        continue;
      }
      return Diagnosis{
          .fault = Fault::transpose,
          .holds = static_cast<Index>(evidence.size()),
          .of = static_cast<Index>(evidence.size()),
          .pattern = text("analytic is numeric with axes ", a, " and ", b, " exchanged, in ",
                          evidence.size(), " of ", evidence.size(), " elements"),
          .cause = square ? "transposed: a transpose is missing from the rule, or once too many"
                          : "transposed, and reshaped to fit: transpose in place of the reshape"};
    }
  }
  return std::nullopt;
}

/// What is said where no pattern holds; of one or two wrong elements, nothing.
Diagnosis no_pattern(const Evidence& evidence) {
  const Places wrong = evidence.wrong();
  const Index clear = std::ranges::count(evidence.clear, true);
  if (wrong.size() < 3 || 2 * count(wrong) < clear) return {};
  return {.fault = Fault::unclear,
          .holds = count(wrong),
          .of = clear,
          .pattern = text("none: no factor, sign, transpose or lost sum explains the ",
                          wrong.size(), " of ", clear, " ", evidence.unit(), " that are wrong")};
}

}  // namespace

bool Evidence::is_wrong(std::size_t i) const {
  return clear[i] && !(std::abs(analytic[i] - numeric[i]) <= limit);
}

std::vector<std::size_t> Evidence::wrong() const {
  Places places;
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_wrong(i)) places.push_back(i);
  }
  return places;
}

std::vector<std::size_t> Evidence::telling() const {
  Places places;
  for (std::size_t i = 0; i < size(); ++i) {
    if (clear[i] && std::abs(numeric[i]) > limit) places.push_back(i);
  }
  return places;
}

std::string location(const Evidence& evidence, const std::vector<std::size_t>& elements) {
  if (!evidence.elementwise || elements.size() < 2) return "";
  for (Index axis = 0; axis < evidence.shape.size(); ++axis) {
    const Index size = evidence.shape[axis];
    const auto along_axis = [&](std::size_t i) {
      return unravel_index(static_cast<Index>(i), evidence.shape)[axis];
    };
    const Index first = along_axis(elements.front());
    const bool one_index =
        std::ranges::all_of(elements, [&](std::size_t i) { return along_axis(i) == first; });
    const Index slice = static_cast<Index>(evidence.size()) / size;
    if (size > 1 && one_index && slice == count(elements)) {
      return text(", all at index ", first, " of axis ", axis);
    }
  }
  return "";
}

Diagnosis diagnose(const Evidence& evidence) {
  if (evidence.wrong().empty()) return {};
  const auto is_finite = [](double number) { return std::isfinite(number); };
  const bool finite = std::ranges::all_of(evidence.analytic, is_finite) &&
                      std::ranges::all_of(evidence.numeric, is_finite);
  if (!finite) return {};  // the note says so, and no sum or ratio means anything
  // The likelier explanation first: zeros are a factor, too, and half may be one of two uses.
  for (const auto find : {find_zeros, find_leak, find_factor, find_transpose, find_row_sum,
                          find_accumulation, find_factor_of_some}) {
    if (std::optional<Diagnosis> found = find(evidence)) return *std::move(found);
  }
  return no_pattern(evidence);
}

}  // namespace checking
}  // namespace gradus
