// Predictions as lines: question, answer, and, where that is wrong, what was wanted.
#pragma once

#include <string>
#include <vector>

#include "examples/gradus/data/dataset.h"
#include "examples/support/terminal.h"

namespace examples {

/// One line for each, no wider than `width`:
///
///     CABBAC → AABBCC  ✓
///     FFCBAF → ABCFFC  ✗ want ABCFFF
std::vector<std::string> prediction_lines(const std::vector<Prediction>& predictions,
                                          const Terminal& terminal, int width);

}  // namespace examples
