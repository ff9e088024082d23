// Einstein summation.
#pragma once

#include <string_view>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// torch.einsum for one or two operands: einsum("bhqd,bhkd->bhqk", {q, k}). Letters name axes; one
/// that the result leaves out is summed over. Without "->" the result has the letters that occur
/// once, in alphabetical order. "..." stands for further axes, which broadcast. A letter twice in
/// one operand takes the diagonal. Throws ValueError for a malformed equation and ShapeError for
/// sizes that differ.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace gradus
