// Attention page: attention weights of all layers and heads as one HTML file that needs nothing
// beside itself and runs no script.
#pragma once

#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace examples {

struct AttentionMap {
  std::string title{};       ///< "layer 1, head 2"
  gradus::Tensor weights{};  ///< (queries, keys), from 0 to 1
};

struct AttentionPage {
  std::string title{};
  std::string text{};  ///< shown above the maps
  std::vector<std::string> query_tokens{};
  std::vector<std::string> key_tokens{};
  std::vector<AttentionMap> maps{};
};

/// Each weight is a square that tells its number; weights below 0.005 are left out. The page has at
/// most 120 000 squares, some 14 MB: larger matrices are drawn in blocks, each as dark as its
/// largest weight, and a line says so. Throws ShapeError unless every map has a token for each
/// query and each key.
std::string html(const AttentionPage& page);

}  // namespace examples
