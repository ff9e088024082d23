// Heads: what attention layers share: a width split into heads, and merged again.
#pragma once

#include "framework/ops/heads_internal.h"

namespace gradus {

/// Throws ValueError, in the words of `layer`, unless n_heads divide d_model evenly.
void check_heads(const char* layer, Index d_model, Index n_heads);

}  // namespace gradus
