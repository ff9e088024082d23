// Generation: a GPT that goes on from a prompt, token by token.
#pragma once

#include <vector>

#include "layers/gpt.h"
#include "layers/sampling.h"

namespace gradus {

/// The prompt followed by `count` tokens, each drawn by sample() from what the model says of those
/// before it. A cache keeps the work of a token to that token alone until the context is full; from
/// then on the model reads the last block_size tokens anew for each, at positions from 0. A longer
/// prompt is cropped in the same way.
///
/// Nothing is recorded on the tape. The model runs in the mode it is in, which is left alone: call
/// eval() first, or dropout is active. Throws ValueError for an empty prompt, a negative count, a
/// token outside the vocabulary, and as sample() does.
std::vector<Index> generate(const GPT& model, const std::vector<Index>& prompt, Index count,
                            const SamplingOptions& options, Generator& generator);

}  // namespace gradus
