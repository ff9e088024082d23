// gradus doctor: what Gradus finds on this machine, what is wrong, and how to cure it.
#pragma once

#include "examples/gradus/command.h"

namespace examples {

/// Adds the subcommand; when it is the one given, `chosen` is what it does.
void add_doctor_command(CLI::App& app, Action& chosen);

}  // namespace examples
