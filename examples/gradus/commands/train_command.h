// gradus train: trains a model on a task.
#pragma once

#include "examples/gradus/command.h"

namespace examples {

/// Adds the subcommand; when it is the one given, `chosen` is what it does.
void add_train_command(CLI::App& app, Action& chosen);

}  // namespace examples
