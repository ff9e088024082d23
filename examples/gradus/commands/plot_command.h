// gradus plot: the curves of training runs as a picture.
#pragma once

#include "examples/gradus/command.h"

namespace examples {

/// Adds the subcommand; when it is the one given, `chosen` is what it does.
void add_plot_command(CLI::App& app, Action& chosen);

}  // namespace examples
