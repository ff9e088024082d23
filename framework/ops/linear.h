// The product of a linear layer.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// x (..., in) times weight (out, in) transposed, plus bias (out): (..., out). The bias may be
/// undefined. Throws ShapeError.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace gradus
