// Sums of gradients: in place where nobody could notice.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// True when nobody else can see this tensor's memory, so that it may be added to.
bool is_ours_alone(const Tensor& tensor);

/// sum + gradient, of one shape and dtype: in the memory of `sum` where that is ours alone.
Tensor sum_of(const Tensor& sum, const Tensor& gradient);

}  // namespace gradus
