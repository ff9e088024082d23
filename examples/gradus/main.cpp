// The program `gradus`: trains toy models, shows what they learnt, and checks gradients.
//
//     commands/  one file for each command
//     tasks/     what can be learnt
//     data/      samples or text as batches
//     training/  the loop
//     watch/     how it goes, on a terminal or in a log
#include <gradus/gradus.h>

#include <iostream>

#include "examples/gradus/command.h"
#include "examples/gradus/commands/demo_command.h"
#include "examples/gradus/commands/doctor_command.h"
#include "examples/gradus/commands/gradcheck_command.h"
#include "examples/gradus/commands/plot_command.h"
#include "examples/gradus/commands/sample_command.h"
#include "examples/gradus/commands/tasks_command.h"
#include "examples/gradus/commands/train_command.h"
#include "examples/support/command_line.h"

namespace examples {
namespace {

using AddCommand = void (*)(CLI::App&, Action&);

/// In the order of the help.
constexpr AddCommand kCommands[] = {add_demo_command,   add_tasks_command, add_train_command,
                                    add_sample_command, add_plot_command,  add_gradcheck_command,
                                    add_doctor_command};

ExitCode show_front_page() {
  std::cout << "gradus " GRADUS_VERSION " - small tensors, honest gradients\n\n"
            << "  " << program_name << " demo           train, check and show, in about 20 s\n"
            << "  " << program_name << " tasks          list what can be trained\n"
            << "  " << program_name << " train sort     train a task\n"
            << "  " << program_name << " gradcheck mha  compare backward with finite differences\n"
            << "  " << program_name << " --help         all commands\n";
  return kWell;
}

ExitCode run_gradus(int argc, char** argv) {
  program_name = argv[0];
  CLI::App app("Small tensors, honest gradients.", "gradus");
  const auto version = [] {  // only when asked for: a GRADUS_ISA that cannot run is an error
    return gradus::text("gradus " GRADUS_VERSION " (", gradus::instruction_set(), ", ",
                        gradus::num_threads(), " threads)");
  };
  app.set_version_flag("--version", version, "Print the version and the instruction set");
  app.set_help_flag("-h,--help", "Print this page");
  app.require_subcommand(0, 1);
  app.footer(
      "Progress goes to stderr, results to stdout.\n"
      "Environment: GRADUS_NUM_THREADS, GRADUS_ISA, NO_COLOR, CLICOLOR_FORCE.");

  Action chosen = show_front_page;
  for (const AddCommand add : kCommands) add(app, chosen);
  std::string page;
  app.add_subcommand("help", "Print this page")->callback([&] {
    chosen = [&page] {
      std::cout << page;
      return kWell;
    };
  });
  page = app.help();  // which later is that of the command that was given
  if (!parse_command_line(app, argc, argv)) return kWell;
  return chosen();
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  return examples::run([&] { return examples::run_gradus(argc, argv); });
}
