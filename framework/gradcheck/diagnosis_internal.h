// What a diagnosis is made from, and the search for each kind of pattern. Internal to gradcheck.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "framework/gradcheck/diagnosis.h"
#include "framework/gradcheck/elements_internal.h"

namespace gradus::checking {

/// A size that occurs in the shapes around a function, and where: {8, "axis 1 of q"}.
struct NamedSize {
  Index size = 0;
  std::string where{};
};

/// A value computed on the way, and the op that did.
struct NamedValue {
  std::string op{};
  Tensor value{};
};

struct Evidence {
  Shape shape{};  ///< of the input; {n} where there are n directions in place of elements
  Numbers analytic{};
  Numbers numeric{};
  std::vector<bool> clear{};  ///< where the two can be compared: no kink, not frozen
  double limit = 0.0;         ///< how far apart equal gradients may lie
  bool elementwise = true;
  std::vector<NamedSize> sizes{};
  Index uses = 1;  ///< how often the tape takes this input
  /// The values of the input's shape along the tape; asked for where they may help.
  std::function<std::vector<NamedValue>()> values{};
  /// The terms, one per number of the outputs, whose sum is the numeric gradient of one element.
  std::function<Numbers(std::size_t)> terms{};
  std::vector<Shape> outputs{};

  std::size_t size() const { return analytic.size(); }
  bool is_wrong(std::size_t i) const;
  /// The clear elements that are not right; those whose numeric gradient is above the noise.
  std::vector<std::size_t> wrong() const;
  std::vector<std::size_t> telling() const;
  /// "elements" or "directions".
  const char* unit() const { return elementwise ? "elements" : "directions"; }
};

/// The first of the patterns below that holds, else unclear or none.
Diagnosis diagnose(const Evidence& evidence);

std::optional<Diagnosis> find_factor(const Evidence& evidence);
std::optional<Diagnosis> find_factor_of_some(const Evidence& evidence);
std::optional<Diagnosis> find_row_sum(const Evidence& evidence);
std::optional<Diagnosis> find_accumulation(const Evidence& evidence);

/// " at index 2 of axis 1" where these elements are all of those that share an index, else "".
std::string location(const Evidence& evidence, const std::vector<std::size_t>& elements);

}  // namespace gradus::checking
