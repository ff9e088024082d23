// Heat map: a matrix of attention weights as shades, with tokens on both axes.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"
#include "framework/core/tensor.h"

namespace examples {

/// One line per query, one column per key, and the largest weight of each line as a number. As wide
/// as the terminal allows. `weights` is (queries, keys), from 0 to 1; tokens are one column wide.
std::string heat_map(const gradus::Tensor& weights, const std::vector<std::string>& query_tokens,
                     const std::vector<std::string>& key_tokens, const Terminal& terminal);

}  // namespace examples
