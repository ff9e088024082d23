// Softmax and its logarithm along one axis. Floating only.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// What softmax makes of a slice that is -inf throughout: NaN as in PyTorch, or zeros, the meaning
/// of attention where a query may attend to nothing.
enum class WhenAllHidden { nan, zero };

/// exp(x) / sum(exp(x)) along the axis, computed from x - max(x). A -inf beside finite elements
/// gives exactly 0; a NaN or +inf gives NaN throughout its slice.
Tensor softmax(const Tensor& x, Index axis, WhenAllHidden when_all_hidden = WhenAllHidden::nan);

/// log(softmax(x)), without the detour.
Tensor log_softmax(const Tensor& x, Index axis);

/// y * (g - sum(g * y)): the derivative of softmax, itself differentiable.
Tensor softmax_backward(const Tensor& gradient, const Tensor& output, Index axis);

}  // namespace gradus
