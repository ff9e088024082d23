// Heads: a width seen as heads side by side, and merged again, in one step of the tape each.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// (B, length, H * d) as (B, H, length, d): a view. The heads must divide the width.
Tensor split_heads(const Tensor& x, Index n_heads);

/// (B, H, length, d) as (B, length, H * d): a view where x lies as split_heads leaves it, else a
/// copy.
Tensor merge_heads(const Tensor& x);

/// Uninitialised memory for (B, H, length, d), which can be merged without a copy.
Tensor empty_heads(const Shape& shape, DType dtype);

}  // namespace gradus
