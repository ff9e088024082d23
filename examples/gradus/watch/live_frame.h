// Live frame: a run as it stands, as lines for a terminal.
#pragma once

#include <string>
#include <vector>

#include "examples/gradus/watch/watch_state.h"
#include "examples/support/terminal.h"

namespace examples {

/// No line is wider than `width`; what does not fit goes to the next line.
std::vector<std::string> live_frame(const WatchState& state, const Terminal& terminal, int width);

}  // namespace examples
