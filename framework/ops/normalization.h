// Normalisation.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axes, whose sizes are
/// normalized_shape (Ba, Kiros, Hinton, "Layer normalization", 2016). The variance divides by n.
/// weight and bias have shape normalized_shape, and may be undefined. Floating only. Throws
/// ShapeError.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * weight over the last axes (Zhang and Sennrich, "Root mean square
/// layer normalization", 2019). weight has shape normalized_shape, and may be undefined.
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                double eps = 1e-5);

}  // namespace gradus
