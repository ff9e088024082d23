// Model: the GPT that the settings describe.
#pragma once

#include "examples/gradus/settings/settings.h"
#include "layers/gpt.h"

namespace examples {

/// Draws its parameters from the default generator. Throws ValueError for what does not fit.
gradus::GPT make_model(const RunSettings& settings, Index vocab_size, Index block_size);

}  // namespace examples
