// gradus gradcheck: gradients of ops, layers and models against finite differences.
#pragma once

#include "examples/gradus/command.h"

namespace examples {

/// Adds the subcommand; when it is the one given, `chosen` is what it does.
void add_gradcheck_command(CLI::App& app, Action& chosen);

}  // namespace examples
