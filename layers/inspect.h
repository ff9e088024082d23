// Inspect: questions about a module and what was computed with it.
#pragma once

#include <string>
#include <vector>

#include "layers/module.h"

namespace gradus {

/// Dotted names of the parameters that the loss does not depend on: backward() will leave them
/// without a gradient. Throws AutogradError for a loss that is not on a tape.
std::vector<std::string> parameters_without_gradient(const Module& module, const Tensor& loss);

}  // namespace gradus
