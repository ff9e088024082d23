#include "framework/ops/attention_call_internal.h"

#include <algorithm>
#include <cmath>

#include "framework/core/random.h"

namespace gradus {

AttentionRecipe recipe_of(const AttentionShapes& shapes, const AttentionOptions& options) {
  check_probability("dropout", options.dropout_p);
  const Shape scores = shapes.scores();
  const std::optional<Index> of_mask = options.mask.causal_offset_for(scores);
  const AttentionMask mask = of_mask ? options.mask.without_causal() : options.mask;
  Index offset = of_mask.value_or(options.causal_offset);  // query i sees keys 0 .. i + this
  if (options.is_causal) offset = std::min(offset, options.causal_offset);
  const double features = static_cast<double>(shapes.query[3]);
  return {.mask = mask,
          .hidden = mask.hides_nothing() ? Tensor() : mask.hidden_for(scores),
          .is_causal = options.is_causal || of_mask,
          // What lies beyond the last key, or before the first, changes nothing.
          .causal_offset = std::clamp(offset, -scores[2], scores[3]),
          .scale = options.scale.value_or(1 / std::sqrt(std::max(1.0, features))),
          .dropout_p = options.dropout_p,
          .dropout_key = options.dropout_p == 0 ? 0 : LockedGenerator()->next_key()};
}

kernels::AttentionCall call_of(const AttentionShapes& shapes, const AttentionRecipe& recipe) {
  const auto& [query, key, value_width] = shapes;
  kernels::AttentionCall call{.batch = query[0],
                              .heads = query[1],
                              .shared_heads = key[1],
                              .queries = query[2],
                              .keys = key[2],
                              .width = query[3],
                              .value_width = value_width,
                              .scale = recipe.scale,
                              .causal_offset = recipe.is_causal ? recipe.causal_offset : key[2],
                              .hidden = nullptr,
                              .hidden_strides = {},
                              .dropout_p = recipe.dropout_p,
                              .dropout_key = recipe.dropout_key};
  if (const Tensor& hidden = recipe.hidden; hidden.defined()) {
    call.hidden = hidden.data<bool>();
    for (Index axis = 0; axis < 4; ++axis) {
      call.hidden_strides[axis] = hidden.shape()[axis] == 1 ? 0 : hidden.strides()[axis];
    }
  }
  return call;
}

}  // namespace gradus
