// Dropout.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// Each element dropped (set to 0) with probability p, the others divided by 1 - p, so that the
/// mean stays (Srivastava et al., 2014). Without `training`, or for p = 0, x itself. Every call
/// draws a new key from the default generator; the mask follows from the key and the element's
/// position alone. Throws ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, bool training = true);

/// The same with a mask that a key names: equal keys drop equal elements.
Tensor dropout_with_key(const Tensor& x, double p, std::uint64_t key);

}  // namespace gradus
