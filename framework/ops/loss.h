// Losses.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

enum class Reduction { none, sum, mean };

struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  /// Targets of this value count nowhere; it may lie outside the classes.
  Index ignore_index = -100;
  /// Share of the target spread evenly over all classes (Szegedy et al., 2016), in 0..1.
  double label_smoothing = 0.0;
};

/// -log softmax(input)[target], in nats. input is (N, C), (C), or (N, C, d...), with int64 targets
/// (N), () or (N, d...). The mean divides by the number of targets that are not ignored: NaN when
/// there are none. Throws ShapeError, DTypeError, and ValueError for a target outside 0..C-1.
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options = {});

}  // namespace gradus
