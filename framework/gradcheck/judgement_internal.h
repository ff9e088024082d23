// Judgement: the two gradients of one input compared, slope by slope, and what is said of them.
// Internal to gradcheck.
#pragma once

#include <string>
#include <vector>

#include "framework/gradcheck/gradcheck.h"
#include "framework/gradcheck/slopes_internal.h"

namespace gradus::checking {

/// A slope and what backward says of it.
struct Pair {
  double analytic = 0.0;
  Slope slope{};
};

/// Fills in the row's errors and verdict. The first row.directions of the pairs are directions, and
/// the others elements, which lie at `elements`: those that no direction moved.
void compare(GradcheckInput& row, const std::vector<Pair>& pairs,
             const std::vector<std::size_t>& elements, const GradcheckOptions& options);

/// Whether a gradient of zeros would pass.
bool is_zero(const GradcheckInput& row);

/// Says what a reader should know. `connected`: a tape leads from an output to this input.
void comment(GradcheckInput& row, bool connected);

/// The worst element, "x[0, 2]", or "direction 7".
std::string worst_name(const GradcheckInput& row);

}  // namespace gradus::checking
