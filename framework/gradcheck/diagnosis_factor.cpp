// Constant factors: whether one ratio holds in all elements, or in all wrong ones, and whether it
// is a number that has a meaning here: -1, 2, or n, 1/n, sqrt(n), 1/sqrt(n) of a size n around.
#include <algorithm>
#include <cmath>
#include <iomanip>

#include "framework/core/error.h"
#include "framework/gradcheck/diagnosis_internal.h"

namespace gradus::checking {
namespace {

using Places = std::vector<std::size_t>;

constexpr double kTells = 5.0;    // by how many limits a factor must move an element to be seen
constexpr double kNear = 1e-4;    // no ratio known worse than this is given a name
constexpr Index kMostUses = 8;    // of an input, whose parts k/n are looked for
constexpr std::size_t kMost = 2;  // explanations that are offered

/// The ratio analytic / numeric, if it is one and the same in all these elements.
struct Ratio {
  double value = 0.0;
  double uncertainty = 0.0;
  std::size_t seen_in = 0;  ///< elements that only this ratio, and not 1, explains
};

std::optional<Ratio> common_ratio(const Evidence& evidence, const Places& places) {
  double products = 0.0;
  double squares = 0.0;
  for (const std::size_t i : places) {
    products += evidence.analytic[i] * evidence.numeric[i];
    squares += evidence.numeric[i] * evidence.numeric[i];
  }
  if (!(squares > 0.0)) return std::nullopt;
  Ratio ratio{.value = products / squares};
  const double limit = evidence.limit * std::max(1.0, std::abs(ratio.value));
  for (const std::size_t i : places) {
    const double numeric = evidence.numeric[i];
    if (std::abs(evidence.analytic[i] - ratio.value * numeric) > limit) return std::nullopt;
    if (std::abs((ratio.value - 1.0) * numeric) > kTells * limit) ++ratio.seen_in;
  }
  ratio.uncertainty = limit / std::sqrt(squares);
  return ratio;
}

struct Meaning {
  std::string value{};  ///< "sqrt(8)"; empty where the digits say it
  std::string cause{};
  bool is_part = false;  ///< some of several uses
};

class Meanings {
 public:
  Meanings(double size, double uncertainty) : size_(size), uncertainty_(uncertainty) {}

  void offer(double candidate, Meaning meaning) {
    if (list_.size() == kMost || std::abs(size_ - candidate) > uncertainty_) return;
    list_.push_back(std::move(meaning));
  }
  const std::vector<Meaning>& list() const { return list_; }

 private:
  double size_;
  double uncertainty_;
  std::vector<Meaning> list_;
};

std::string lost(const std::string& factor) {
  return text("the factor ", factor, " is applied in forward but not in backward");
}
std::string twice(const std::string& factor) {
  return text("the factor ", factor, " is applied in backward once too often");
}

void offer_size(Meanings& meanings, const NamedSize& named) {
  const auto n = static_cast<double>(named.size);
  const std::string where = text(" (", named.size, ": ", named.where, ")");
  const std::string root = text("sqrt(", named.size, ")");
  const std::string part = text("1/", named.size);
  meanings.offer(std::sqrt(n), {root, lost("1/" + root) + where});
  meanings.offer(1.0 / std::sqrt(n), {"1/" + root, twice("1/" + root) + where});
  meanings.offer(n, {"", lost(part) + ", a mean's perhaps" + where});
  meanings.offer(1.0 / n, {part, text("divided by ", named.size, " once too often, or one of ",
                                      named.size, " equal terms arrives") +
                                     where});
}

/// What a factor of this size may mean, whatever its sign.
std::vector<Meaning> meanings_of(const Evidence& evidence, const Ratio& ratio) {
  const double size = std::abs(ratio.value);
  const double uncertainty = std::max(ratio.uncertainty, 1e-12 * size);
  if (uncertainty > kNear * size || std::abs(size - 1.0) <= uncertainty) return {};
  Meanings meanings(size, uncertainty);
  for (Index k = 1; k < evidence.uses && evidence.uses <= kMostUses; ++k) {
    meanings.offer(static_cast<double>(k) / static_cast<double>(evidence.uses),
                   {text(k, "/", evidence.uses),
                    text(k, " of its ", evidence.uses,
                         " uses on the tape arrives, as if overwritten, not added up"),
                    true});
  }
  meanings.offer(2.0, {"", "the gradient is added up twice"});
  if (evidence.uses != 2) meanings.offer(0.5, {"1/2", "the 2 of a square is lost"});
  for (const NamedSize& named : evidence.sizes) offer_size(meanings, named);
  return meanings.list();
}

/// In words, with what the number means. `where`: "in 12 of 12 elements".
Diagnosis described(const Evidence& evidence, const Ratio& ratio, const std::string& where) {
  const std::vector<Meaning> meanings = meanings_of(evidence, ratio);
  const bool negative = ratio.value < 0.0;
  const bool is_one = std::abs(std::abs(ratio.value) - 1.0) <= ratio.uncertainty;
  Diagnosis diagnosis{.fault = Fault::factor, .ratio = ratio.value};
  if (negative && is_one) {
    diagnosis.fault = Fault::sign;
  } else if (!negative && !meanings.empty() && meanings.front().is_part) {
    diagnosis.fault = Fault::accumulation;
  }
  const bool near_one = std::abs(std::abs(ratio.value) - 1.0) < 1e-3;
  diagnosis.pattern = text("ratio ", std::setprecision(near_one ? 9 : 6),
                           is_one ? std::round(ratio.value) : ratio.value);
  for (const Meaning& meaning : meanings) {
    if (meaning.value.empty()) continue;
    diagnosis.pattern += text(" = ", negative ? "-" : "", meaning.value);
    break;
  }
  diagnosis.pattern += where;
  if (negative) diagnosis.cause = "the sign is flipped";
  for (std::size_t m = 0; m < meanings.size(); ++m) {
    diagnosis.cause += (m > 0 ? "; or " : negative ? ", and " : "") + meanings[m].cause;
  }
  if (diagnosis.cause.empty()) diagnosis.cause = "a constant factor that forward does not have";
  return diagnosis;
}

}  // namespace

std::optional<Diagnosis> find_factor(const Evidence& evidence) {
  Places clear;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (evidence.clear[i]) clear.push_back(i);
  }
  const std::optional<Ratio> ratio = common_ratio(evidence, clear);
  if (!ratio || ratio->seen_in == 0) return std::nullopt;
  const auto telling = static_cast<Index>(evidence.telling().size());
  Diagnosis found =
      described(evidence, *ratio, text(" in ", telling, " of ", telling, " ", evidence.unit()));
  // One or two elements always have some ratio: it must be a number with a meaning.
  const bool is_any_number = found.fault == Fault::factor && meanings_of(evidence, *ratio).empty();
  if (ratio->seen_in < 3 && is_any_number) return std::nullopt;
  found.holds = found.of = telling;
  return found;
}

std::optional<Diagnosis> find_factor_of_some(const Evidence& evidence) {
  const Places wrong = evidence.wrong();
  const std::optional<Ratio> ratio = common_ratio(evidence, wrong);
  if (!ratio || ratio->seen_in < 3 || ratio->seen_in < wrong.size()) return std::nullopt;
  const auto telling = static_cast<Index>(evidence.telling().size());
  Diagnosis found = described(evidence, *ratio,
                              text(" in ", wrong.size(), " of ", telling, " ", evidence.unit(),
                                   location(evidence, wrong), "; all others are right"));
  found.holds = static_cast<Index>(wrong.size());
  found.of = telling;
  return found;
}

}  // namespace gradus::checking
