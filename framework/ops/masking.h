// Choosing between values by a bool mask. The gradients choose, too: what was not chosen gets 0,
// not 0 times something that may be infinite.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// x, but `value` where the bool mask is true; x and mask broadcast against each other. Throws
/// DTypeError for a mask that is not bool.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

/// a where the bool condition is true, else b; all three broadcast. A derivative that is infinite
/// or NaN in the branch not chosen still spoils the ops before it: clean their input instead.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace gradus
