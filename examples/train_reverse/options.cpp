#include "examples/train_reverse/options.h"

#include "examples/support/command_line.h"

namespace examples {

std::optional<Options> read_options(int argc, char** argv) {
  using gradus::Index;

  Options options;
  CLI::App app("Trains a small transformer to reverse digits, and shows what it learnt.",
               "train_reverse");
  add_number<Index>(app, "--steps", options.steps, 1, 10'000'000, "Steps, all of which are taken");
  add_number<Index>(app, "--batch", options.batch, 1, 4096, "Sequences per step");
  add_number<Index>(app, "--length", options.length, 2, 24, "Digits per sequence");
  add_number<Index>(app, "--layers", options.layers, 1, 12, "Encoder layers");
  add_number<Index>(app, "--heads", options.heads, 1, 64, "Heads per layer");
  add_number<Index>(app, "--width", options.width, 1, 1024, "Features per position");
  add_number(app, "--lr", options.lr, 1e-6, 10.0, "Learning rate of Adam");
  add_number(app, "--seed", options.seed, 0U, 4294967295U, "Of model and data");
  add_number(app, "--threads", options.threads, 1, 1024, "Results do not depend on it");
  add_number(app, "--target", options.target, 0.0, 100.0, "Held-out exact match to reach, in %");
  app.add_flag("--no-target", options.no_target, "Exit with 0 whether or not it is reached");
  app.add_flag("--quiet", options.quiet, "No progress, only results");
  app.set_version_flag("--version", "train_reverse of Gradus " GRADUS_VERSION, "Print the version");
  app.set_help_flag("--help", "Print this page");
  app.get_formatter()->column_width(18);
  app.footer(
      "Progress goes to stderr, results to stdout. Ctrl-C ends after the current step.\n"
      "Exit codes: 0 well, 1 target missed, 2 usage, 4 loss not a number, 130 interrupted.\n"
      "Environment: GRADUS_NUM_THREADS, GRADUS_ISA, NO_COLOR, CLICOLOR_FORCE.");

  if (!parse_command_line(app, argc, argv)) return std::nullopt;
  return options;
}

}  // namespace examples
