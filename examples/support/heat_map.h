// Heat map: a matrix of attention weights as shades, with tokens on both axes.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"
#include "framework/core/tensor.h"

namespace examples {

/// One line per query, one column per key, and the largest weight of each line as a number. No
/// wider than the terminal and no longer than 64 lines: of a larger matrix the first queries and
/// keys are shown, and a line says so. `weights` is (queries, keys), from 0 to 1. Throws ShapeError
/// unless there is a token for each query and each key.
std::string heat_map(const gradus::Tensor& weights, const std::vector<std::string>& query_tokens,
                     const std::vector<std::string>& key_tokens, const Terminal& terminal);

/// Throws ShapeError, naming both numbers, unless weights (queries, keys) have a token for each.
void check_tokens(const gradus::Tensor& weights, std::size_t query_tokens, std::size_t key_tokens);

}  // namespace examples
