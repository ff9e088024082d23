// Sampling: which token comes next, drawn from logits. Reshaped by the temperature, then cut to the
// top_k likeliest, then to the top_p of what is left, and made to add up to 1 again.
#pragma once

#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace gradus {

struct SamplingOptions {
  /// Divides the logits. 0 takes the likeliest token, the first of several; infinity makes all
  /// alike.
  double temperature = 1.0;
  /// Exactly so many tokens stay, of equal ones those with the lowest ids. 0, or no fewer than
  /// there are: all stay.
  Index top_k = 0;
  /// The smallest set of the likeliest tokens stays whose probabilities reach it together, but at
  /// least one (Holtzman et al., "The curious case of neural text degeneration", 2020). 1: all
  /// stay.
  double top_p = 1.0;
};

/// Logits (V) to probabilities (V) of the same dtype. A logit of -inf stays at 0. Throws ShapeError
/// for another rank or no logits; ValueError for a temperature or top_k below 0, a top_p outside
/// 0..1, a logit that is NaN or +inf, and where all are -inf; DTypeError.
Tensor sampling_probabilities(const Tensor& logits, const SamplingOptions& options = {});

/// The id of a token, drawn with these probabilities by one number of the generator, whatever the
/// options. (Not the draws of torch.multinomial.) Throws as sampling_probabilities() does.
Index sample(const Tensor& logits, const SamplingOptions& options, Generator& generator);

}  // namespace gradus
