// Picking by int64 indices, which are never negative. An index outside its range throws
// ValueError and says where, in release builds, too.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

inline constexpr Index kNoPadding = -1;

/// Rows of weight (rows, width) by indices (...): (..., width). The row padding_idx gets no
/// gradient; unlike PyTorch's, it does not count from the back. Throws ShapeError, DTypeError, and
/// ValueError for an index or a padding_idx that is no row.
Tensor embedding(const Tensor& indices, const Tensor& weight, Index padding_idx = kNoPadding);

/// torch.gather: out[i][j][k] = x[i][index[i][j][k]][k] for axis 1. Index has the rank of x and no
/// larger sizes on the other axes.
Tensor gather(const Tensor& x, Index axis, const Tensor& index);

/// torch.scatter_add: x with source added where index points; equal places add up. Index and source
/// have one shape.
Tensor scatter_add(const Tensor& x, Index axis, const Tensor& index, const Tensor& source);

/// torch.index_select: the slices along an axis that a list (n) of indices names, in its order.
Tensor index_select(const Tensor& x, Index axis, const Tensor& index);

/// int64: a new last axis of num_classes with a 1 where the index points and 0 elsewhere; -1 takes
/// as many classes as the largest index needs.
Tensor one_hot(const Tensor& index, Index num_classes = -1);

}  // namespace gradus
