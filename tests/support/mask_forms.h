// Every form of attention mask, for two samples and two heads, beside what it hides in plain words.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/ops/attention_mask.h"

namespace gradus::testing {

/// Whether a form hides key k from query q of head h of sample b.
using Hides = std::function<bool(Index b, Index h, Index q, Index k)>;

struct MaskForm {
  std::string name;
  AttentionMask mask;
  Hides hides;
  Index queries;
  Index keys;
  bool of_heads = false;  ///< tells heads apart, so that a single head has no use for it
};

/// A mask of four sizes with true where `at` says so.
Tensor mask_of(const Shape& sizes, const Hides& at);

/// All of them for at least three queries and three keys, as many whatever the sizes. Some close a
/// row of one head, of one sample, or of all.
std::vector<MaskForm> mask_forms_for(Index queries, Index keys);

}  // namespace gradus::testing
