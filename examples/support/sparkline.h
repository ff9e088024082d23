// Sparkline: a series of numbers as one line of small bars.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace examples {

/// As many bars as `width` allows, but no more than values; each stands for the mean of its share
/// of them. Heights are on a log scale, from the smallest value to the largest; values of 0 and
/// less, and those that are not numbers, are the lowest.
std::string sparkline(const std::vector<double>& values, int width, const Terminal& terminal);

}  // namespace examples
