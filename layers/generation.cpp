#include "layers/generation.h"

#include <algorithm>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/ops/creation.h"

namespace gradus {
namespace {

/// The last `count` tokens, as a batch of one.
Tensor last_of(const std::vector<Index>& tokens, Index count) {
  return from_vector(std::vector<Index>(tokens.end() - count, tokens.end())).unsqueeze(0);
}

}  // namespace

std::vector<Index> generate(const GPT& model, const std::vector<Index>& prompt, Index count,
                            const SamplingOptions& options, Generator& generator) {
  if (prompt.empty()) {
    throw ValueError("generate: the prompt is empty", {.need = "a token to go on from"});
  }
  if (count < 0) throw ValueError(text("generate: count ", count, " must not be negative"));

  const NoGrad no_grad;
  const Index block_size = model.options().block_size;
  KeyValueCache cache = model.empty_cache();
  std::vector<Index> tokens = prompt;
  for (Index i = 0; i < count; ++i) {
    if (cache.length() == block_size) cache.clear();
    const Index visible = std::min(static_cast<Index>(tokens.size()), block_size);
    const Tensor logits = model(last_of(tokens, visible - cache.length()), cache);  // (1, T, V)
    tokens.push_back(sample(logits[0][-1], options, generator));
  }
  return tokens;
}

}  // namespace gradus
