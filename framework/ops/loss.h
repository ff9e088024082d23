// Losses. Reduction none keeps one number per item, sum adds them, mean divides by their number or,
// where classes have weights, by the weights of those that count.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

enum class Reduction { none, sum, mean };

struct NllLossOptions {
  /// One weight per class (C); undefined for equal ones.
  Tensor weight{};
  /// Targets of this value count nowhere; it may lie outside the classes.
  Index ignore_index = -100;
  Reduction reduction = Reduction::mean;
};

/// -log_probability[target], weighted. log_probability is (N, C), (C), or (N, C, d...), with int64
/// targets (N), () or (N, d...). The mean over no counted target is NaN. Throws ShapeError,
/// DTypeError, and ValueError for a target outside 0..C-1.
Tensor nll_loss(const Tensor& log_probability, const Tensor& target,
                const NllLossOptions& options = {});

struct CrossEntropyOptions {
  /// One weight per class (C); undefined for equal ones.
  Tensor weight{};
  /// Targets of this value count nowhere; it may lie outside the classes.
  Index ignore_index = -100;
  Reduction reduction = Reduction::mean;
  /// Share of the target spread evenly over all classes (Szegedy et al., 2016), in 0..1.
  double label_smoothing = 0.0;
};

/// -log softmax(input)[target], in nats. Shapes and errors as for nll_loss. A floating target of
/// the input's shape is a distribution over the classes; its mean divides by the number of items.
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options = {});

/// (input - target)^2; the shapes broadcast.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

struct BinaryCrossEntropyOptions {
  /// Multiplies each item's loss; broadcasts. Undefined for 1.
  Tensor weight{};
  Reduction reduction = Reduction::mean;
  /// Multiplies the loss of the positive answers; broadcasts. Undefined for 1.
  Tensor pos_weight{};
};

/// -(t log s + (1 - t) log(1 - s)) with s = sigmoid(input), from the logits and so without
/// overflow.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options = {});

/// target * (log target - input), input being log probabilities; 0 where target is 0. With
/// log_target the target is given by its logarithm. mean divides by the number of elements (as
/// PyTorch's does, against the mathematical definition; divide the sum by the batch for that).
Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
              bool log_target = false);

}  // namespace gradus
