// Picking by int64 indices, which may be negative nowhere. An index outside its range throws
// ValueError and says where, in release builds, too.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

inline constexpr Index kNoPadding = -1;

/// Rows of weight (rows, width) by indices (...): (..., width). The row padding_idx gets no
/// gradient.
Tensor embedding(const Tensor& indices, const Tensor& weight, Index padding_idx = kNoPadding);

/// torch.gather: out[i][j][k] = x[i][index[i][j][k]][k] for axis 1. Index has the rank of x and no
/// larger sizes on the other axes.
Tensor gather(const Tensor& x, Index axis, const Tensor& index);

/// torch.scatter_add: x with source added where index points; equal places add up. Index and source
/// have one shape.
Tensor scatter_add(const Tensor& x, Index axis, const Tensor& index, const Tensor& source);

}  // namespace gradus
