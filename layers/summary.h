// Summary: what a model consists of, as a table for people.
#pragma once

#include <string>

#include "layers/module.h"

namespace gradus {

/// The tree of modules and parameters with shapes and numbers of parameters; below it their total,
/// those that learn, and their bytes. A parameter in two places counts at the first; the second
/// names it. One that does not learn is marked "frozen". Lines end in a newline.
std::string summary(const Module& model);

}  // namespace gradus
