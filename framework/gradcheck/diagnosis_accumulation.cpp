// Lost accumulation: terms of a gradient that were overwritten, or left out, where they should have
// been added up. The terms are told apart by the numbers of the output that they come from.
#include <algorithm>
#include <cmath>

#include "framework/core/error.h"
#include "framework/gradcheck/diagnosis_internal.h"

namespace gradus::checking {
namespace {

using Places = std::vector<std::size_t>;

constexpr double kTells = 5.0;             // limits by which something must differ to be seen
constexpr std::size_t kMostElements = 48;  // whose terms are looked at
constexpr std::size_t kMostTerms = 64;     // of which one may be the one that is left

/// The sum of the terms that lie at one index of one axis of one output.
struct Slice {
  std::size_t output;
  Index axis;
  Index index;
};

/// The slices of all outputs that no element has yet shown not to be the ones.
class Slices {
 public:
  explicit Slices(const std::vector<Shape>& outputs) {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      for (Index axis = 0; axis < outputs[k].size(); ++axis) {
        for (Index index = 0; index < outputs[k][axis]; ++index) {
          if (outputs[k][axis] > 1) slices_.push_back({k, axis, index});
        }
      }
    }
  }

  /// Keeps the slices whose terms sum to this.
  void keep(const Numbers& terms, const std::vector<Shape>& outputs, double wanted, double limit) {
    std::erase_if(slices_, [&](const Slice& slice) {
      double sum = 0.0;
      std::size_t start = 0;
      for (std::size_t k = 0; k < slice.output; ++k) {
        start += static_cast<std::size_t>(element_count(outputs[k]));
      }
      const Shape& shape = outputs[slice.output];
      const Index stride = contiguous_strides(shape)[slice.axis];
      for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(shape)); ++i) {
        const Index along = static_cast<Index>(i) / stride % shape[slice.axis];
        if (along == slice.index) sum += terms[start + i];
      }
      return std::abs(sum - wanted) > limit;
    });
  }

  const std::vector<Slice>& left() const { return slices_; }

 private:
  std::vector<Slice> slices_;
};

/// Whether one of several terms is all that arrived, or all that did not.
bool is_one_term(const Numbers& terms, double analytic, double numeric, double limit) {
  const auto is_there = [&](double term) { return std::abs(term) > kTells * limit; };
  const auto there = static_cast<std::size_t>(std::ranges::count_if(terms, is_there));
  if (there < 2 || there > kMostTerms) return false;
  return std::ranges::any_of(terms, [&](double term) {
    const double left = std::min(std::abs(term - analytic), std::abs(numeric - term - analytic));
    return is_there(term) && left <= limit;
  });
}

Diagnosis overwritten(const Evidence& evidence, const std::string& what) {
  const auto wrong = static_cast<Index>(evidence.wrong().size());
  return {.fault = Fault::accumulation,
          .holds = wrong,
          .of = wrong,
          .pattern = text("analytic is ", what, ", in all ", wrong, " wrong elements"),
          .cause = "terms are overwritten, or left out, where they should be added up"};
}

std::string slice_text(const Slice& slice, const std::vector<Shape>& outputs) {
  const std::string output = outputs.size() > 1 ? text("output ", slice.output) : "the output";
  return text("index ", slice.index, " of ", outputs[slice.output][slice.axis], " along axis ",
              slice.axis, " of ", output);
}

}  // namespace

std::optional<Diagnosis> find_accumulation(const Evidence& evidence) {
  const Places wrong = evidence.wrong();
  if (!evidence.elementwise || !evidence.terms || wrong.size() < 2) return std::nullopt;
  Slices only(evidence.outputs);
  Slices lost(evidence.outputs);
  bool one_term = true;
  const std::size_t stride = (wrong.size() + kMostElements - 1) / kMostElements;
  for (std::size_t n = 0; n < wrong.size(); n += stride) {
    const std::size_t i = wrong[n];
    const double analytic = evidence.analytic[i];
    const double numeric = evidence.numeric[i];
    const Numbers terms = evidence.terms(i);
    only.keep(terms, evidence.outputs, analytic, evidence.limit);
    lost.keep(terms, evidence.outputs, numeric - analytic, evidence.limit);
    one_term = one_term && is_one_term(terms, analytic, numeric, evidence.limit);
    if (!one_term && only.left().empty() && lost.left().empty()) return std::nullopt;
  }
  if (!only.left().empty()) {
    return overwritten(evidence, "what comes from " +
                                     slice_text(only.left().front(), evidence.outputs) + " alone");
  }
  if (!lost.left().empty()) {
    return overwritten(
        evidence, "what comes from all but " + slice_text(lost.left().front(), evidence.outputs));
  }
  return overwritten(evidence, "one of the terms that numeric is the sum of, or all but one");
}

}  // namespace gradus::checking
