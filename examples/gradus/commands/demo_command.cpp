#include "examples/gradus/commands/demo_command.h"

#include <memory>

#include "examples/gradus/report/attention_report.h"
#include "examples/gradus/report/report.h"
#include "examples/gradus/session.h"
#include "examples/support/command_line.h"
#include "examples/support/format.h"

namespace examples {
namespace {

struct DemoOptions {
  RunSettings settings;
  bool no_target = false;
  bool quiet = false;
};

/// What train would do, in less time and in a folder that each demo uses anew.
RunSettings demo_settings() {
  RunSettings settings = default_settings("reverse");
  settings.steps = 300;
  settings.evaluate_every = 20;
  settings.out = "run/demo";
  return settings;
}

ExitCode demo(const DemoOptions& options) {
  check_settings(options.settings);
  Session session(options.settings, folder_for(options.settings, true));
  const SessionResult result = session.run({.quiet = options.quiet});
  if (result.was_interrupted) return kInterrupted;
  report_mirrored_attention(session);
  report_next({{"demo --layers 1 --heads 1", "one head has to do it all"},
               {"sample " + session.folder().path().string() + " --show attention",
                "all heads, and other questions"},
               {"tasks", "what else there is to learn"}});
  const double share = result.evaluation.exact_share();
  if (share >= kLearnt || options.no_target) return kWell;
  throw Failure(kCriterionMissed,
                format("demo: held-out exact match is %.2f %%, below the target of %.0f %%",
                       100.0 * share, 100.0 * kLearnt));
}

}  // namespace

void add_demo_command(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<DemoOptions>();
  RunSettings& settings = options->settings;
  settings = demo_settings();
  CLI::App& command = *app.add_subcommand("demo", "Train a small model, check it, and look inside");
  add_number<Index>(command, "--steps", settings.steps, 1, 1'000'000, "All of which are taken");
  add_number<Index>(command, "--length", settings.length, 2, 24, "Digits to reverse");
  add_number<Index>(command, "--layers", settings.layers, 1, 12, "Decoder layers");
  add_number<Index>(command, "--heads", settings.heads, 1, 64, "Heads per layer");
  add_number<Index>(command, "--width", settings.width, 1, 1024, "Features per position");
  add_number(command, "--seed", settings.seed, 0U, 4'294'967'295U, "Of model and data");
  add_number(command, "--threads", settings.threads, 1, 1024, "Results do not depend on it");
  command.add_flag("--no-target", options->no_target, "Exit with 0 whether or not it has learnt");
  command.add_flag("-q,--quiet", options->quiet, "No progress, only results");
  command.footer("All that gradus train can do and more settings: gradus train reverse --help");
  command.callback([&chosen, options] { chosen = [options] { return demo(*options); }; });
}

}  // namespace examples
