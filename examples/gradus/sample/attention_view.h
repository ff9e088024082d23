// Attention view: where a model looked while it wrote, by layer and head.
#pragma once

#include <string>

#include "examples/gradus/sample/continuation.h"
#include "examples/support/attention_page.h"
#include "examples/support/terminal.h"

namespace examples {

/// The weights behind a continuation: of all tokens that were read, that is of all but the last, or
/// of the last that the model can read at once. Row i is where it looked to say what comes after
/// token i.
AttentionPage attention_of(const TrainedModel& trained, const Continuation& continuation);

/// A heat map for each layer and head.
std::string attention_maps(const AttentionPage& page, const Terminal& terminal);

}  // namespace examples
