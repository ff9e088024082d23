// Command: what `gradus NAME` does. Each has a file in commands/ with one function that adds it:
//
//     /// Adds the subcommand; when it is the one given, `chosen` is what it does.
//     void add_tasks_command(CLI::App& app, Action& chosen);
//
// An action starts once all arguments are read. It gives the exit code of the program, or throws
// Failure or one of the errors of Gradus.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "examples/support/exit_code.h"

namespace examples {

using Action = std::function<ExitCode()>;

/// How the program was called, so that the commands it prints can be copied.
inline std::string program_name = "gradus";

}  // namespace examples
