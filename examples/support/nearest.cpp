#include "examples/support/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace examples {
namespace {

/// Letters to insert, drop, replace or swap with a neighbour to make one word of the other (optimal
/// string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::string found;
  std::size_t best = (name.size() + 1) / 2 + 1;  // no farther than half of what was typed
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known,
                         const std::string& prefix) {
  const std::string found = nearest(name, known);
  return found.empty() ? "" : "; did you mean " + prefix + found + "?";
}

}  // namespace examples
