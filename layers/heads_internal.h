// Heads: what attention layers share: a width split into heads, and merged again.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// Throws ValueError, in the words of `layer`, unless n_heads divide d_model evenly.
void check_heads(const char* layer, Index d_model, Index n_heads);

/// (B, length, H * d_head) to (B, H, length, d_head), and back.
Tensor split_heads(const Tensor& x, Index n_heads);
Tensor merge_heads(const Tensor& x);

}  // namespace gradus
