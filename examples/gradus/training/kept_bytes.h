// Kept bytes: the memory that a tape holds on to until backward has passed.
#pragma once

#include "framework/core/tensor.h"
#include "layers/module.h"

namespace examples {

/// Of the tape behind a loss: each piece of memory once, the model's parameters left out.
double kept_for_backward(const gradus::Tensor& loss, const gradus::Module& model);

}  // namespace examples
