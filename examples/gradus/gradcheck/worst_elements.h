// Worst elements: where a gradient is farthest from its finite difference, as a table.
#pragma once

#include <string>

#include "examples/support/terminal.h"
#include "framework/gradcheck/gradcheck.h"

namespace examples {

/// The ten worst elements of one input: analytic and numeric gradient, how far they are apart, and
/// as a bar how much of the limit that is, on a log scale. One line says so where the input was not
/// checked element by element.
std::string worst_elements(const gradus::GradcheckInput& input, const Terminal& terminal);

}  // namespace examples
