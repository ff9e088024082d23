// Step curve: how the error of finite differences depends on their step. Large steps see the
// curvature, small ones the rounding; a right gradient lies in the valley of a V between the two,
// and a wrong one on a plain.
#pragma once

#include <string>

#include "examples/gradus/gradcheck/subject.h"
#include "examples/support/terminal.h"
#include "framework/gradcheck/gradcheck.h"

namespace examples {

/// Checks with steps from 0.1 down to 1e-12 and draws the largest relative error of each as a bar
/// on a log scale, and what it says; the error of all inputs, or of one that is named.
std::string step_curve(const Checkable& subject, const gradus::GradcheckOptions& options,
                       const std::string& input, const Terminal& terminal);

}  // namespace examples
