// Joining tensors, taking them apart, and laying them end to end.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// The tensors one after another along an axis; all other sizes equal. Throws ShapeError,
/// DTypeError, ValueError for an empty list.
Tensor cat(const std::vector<Tensor>& tensors, Index axis = 0);

/// The tensors, all of one shape, side by side along a new axis. Throws as cat() does.
Tensor stack(const std::vector<Tensor>& tensors, Index axis = 0);
/// Pieces of split_size along the axis, the last one shorter where it must be; views. Throws
/// ValueError for a split_size below 1.
std::vector<Tensor> split(const Tensor& x, Index split_size, Index axis = 0);
/// Pieces of the given sizes, which must add up to the axis' size. Throws ValueError.
std::vector<Tensor> split(const Tensor& x, const std::vector<Index>& sizes, Index axis = 0);
/// At most `chunks` pieces of equal size, the last one shorter where it must be. Throws ValueError
/// for chunks < 1.
std::vector<Tensor> chunk(const Tensor& x, Index chunks, Index axis = 0);
/// x laid end to end repeats[i] times along axis i, as torch.Tensor.repeat; more repeats than axes
/// add axes in front. Throws ShapeError.
Tensor repeat(const Tensor& x, const Shape& repeats);
}  // namespace gradus
