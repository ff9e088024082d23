// Matrix products.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// torch.matmul: x (..., m, k) times other (..., k, n) is (..., m, n), batch axes broadcasting. A
/// vector counts as one row on the left and as one column on the right, and the axis so added is
/// dropped from the result. Floating only. Throws ShapeError where the inner sizes differ (they
/// never stretch) or the batch axes do not broadcast.
Tensor matmul(const Tensor& x, const Tensor& other);

}  // namespace gradus
