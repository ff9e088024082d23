// gradus sample: what a trained model says, and where it looks.
#pragma once

#include "examples/gradus/command.h"

namespace examples {

/// Adds the subcommand; when it is the one given, `chosen` is what it does.
void add_sample_command(CLI::App& app, Action& chosen);

}  // namespace examples
