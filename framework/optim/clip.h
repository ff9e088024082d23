// Clipping gradients, between backward() and the optimiser's step.
#pragma once

#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// Scales all gradients together so that their norm, taken over all of them as one vector, is at
/// most max_norm: by max_norm / (norm + 1e-6) where that is below 1, as PyTorch does. Returns the
/// norm before; an infinite max_norm only measures. Parameters without a gradient are passed over;
/// one that is listed twice counts once. norm_type is 1, 2, any other p > 0, or infinity. Sums are
/// carried in double and do not overflow. Throws ValueError.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       double norm_type = 2.0);

/// Holds every element of every gradient within +-clip_value. Throws ValueError for one below 0.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace gradus
