// What a call of attention decides before it runs, and how it is put to the kernels.
#pragma once

#include "framework/kernels/table.h"
#include "framework/ops/attention.h"
#include "framework/ops/attention_composed_internal.h"

namespace gradus {

/// The shapes of the operands of attention.
struct AttentionShapes {
  Shape query;        ///< (B, H, q, d)
  Shape key;          ///< (B, H / g, k, d)
  Index value_width;  ///< of values (B, H / g, k, e)

  Shape scores() const { return {query[0], query[1], query[2], key[2]}; }
};

/// All that the options leave open, the key of dropout drawn from the generator. Throws ValueError
/// for a dropout_p outside 0..1, ShapeError for a mask of other shapes.
AttentionRecipe recipe_of(const AttentionShapes& shapes, const AttentionOptions& options);

/// The same as the kernels take it; points into the recipe.
kernels::AttentionCall call_of(const AttentionShapes& shapes, const AttentionRecipe& recipe);

}  // namespace gradus
