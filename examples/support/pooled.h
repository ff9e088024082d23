// Pooled: a matrix too large to draw, made smaller without the loss of its strong weights.
#pragma once

#include "framework/core/tensor.h"

namespace examples {

struct Pooled {
  gradus::Tensor weights;   ///< (rows, columns) of blocks: the largest weight of each
  gradus::Index block = 1;  ///< so many rows and columns make one
};

/// The matrix (rows, columns) in square blocks as small as leave at most `most` of them.
Pooled pooled(const gradus::Tensor& weights, gradus::Index most);

}  // namespace examples
