// Rotary positions: pairs of features turned by an angle that grows with the position, so that the
// product of a query and a key depends on how far apart they are (Su et al., "RoFormer", 2021).
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

/// Which features make a pair: i with i + d/2, as in GPT-NeoX and Llama, or 2i with 2i + 1, as in
/// the paper. Weights trained with one do not fit the other.
enum class RotaryPairs { halves, interleaved };

/// x (..., length, d) turned by the angles whose cosines and sines are given: (length, d / 2), or
/// any shape that broadcasts to (..., length, d / 2). With (a, b) a pair of features: (a cos - b
/// sin, a sin + b cos). Throws ShapeError for an odd d.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin,
                        RotaryPairs pairs = RotaryPairs::halves);

/// The same at positions first, first + 1, ..., pair i turning by position / base^(2i/d).
Tensor rotary_embedding(const Tensor& x, Index first = 0, double base = 10000.0,
                        RotaryPairs pairs = RotaryPairs::halves);

}  // namespace gradus
