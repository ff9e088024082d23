// gradus demo: trains a small model to reverse digits, checks it, and shows what it attends to.
#pragma once

#include "examples/gradus/command.h"

namespace examples {

/// Adds the subcommand; when it is the one given, `chosen` is what it does.
void add_demo_command(CLI::App& app, Action& chosen);

}  // namespace examples
