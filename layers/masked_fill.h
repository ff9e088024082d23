// MaskedFill as a layer: writes a score where an attention mask hides keys.
#pragma once

#include "framework/ops/attention_mask.h"
#include "layers/module.h"

namespace gradus {

/// Scores (B, H, q, k) or (B, q, k) with the mask's fill, -inf unless it says otherwise, where keys
/// are hidden. Throws ShapeError where the mask does not fit.
class MaskedFill : public Module {
 public:
  Tensor operator()(const Tensor& scores, const AttentionMask& mask) const {
    return masked_fill(scores, mask);
  }
  std::string description() const override { return "MaskedFill"; }
};

}  // namespace gradus
