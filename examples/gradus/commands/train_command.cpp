#include "examples/gradus/commands/train_command.h"

#include <iostream>
#include <memory>
#include <optional>

#include "examples/gradus/report/report.h"
#include "examples/gradus/session.h"
#include "examples/gradus/settings/setting_sources.h"
#include "examples/gradus/settings/setting_table.h"
#include "examples/support/command_line.h"
#include "examples/support/format.h"

namespace examples {
namespace {

using gradus::text;

struct TrainOptions {
  GivenSettings flags;
  std::string config;
  std::string resume;
  std::optional<double> target;  // in %
  bool dry_run = false;
  bool overwrite = false;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
};

/// Another value of these would make another run.
void check_unchanged(const GivenSettings& of_run, const GivenSettings& flags) {
  for (const auto& [name, flag] : flags) {
    const Setting& setting = *find_setting(name);
    const auto before = of_run.find(name);
    const bool is_same = before != of_run.end() && before->second.value == flag.value;
    if (is_same || name == "steps" || (!setting.makes_the_run && name != "out")) continue;
    throw Failure(kUsage,
                  text("train: ", name == "task" ? "the task" : flag.origin,
                       " cannot be changed when a run is resumed",
                       before == of_run.end()
                           ? ""
                           : "\n  got    " + flag.value + "; the run has " + before->second.value));
  }
}

ResolvedSettings settings_of(const TrainOptions& options) {
  if (!options.resume.empty()) {
    const RunFolder folder(options.resume);
    folder.settings();  // says so where there is no run
    const GivenSettings of_run = settings_in_file(folder.config());
    check_unchanged(of_run, options.flags);
    return resolve_settings(overridden(of_run, options.flags));
  }
  GivenSettings given;
  if (!options.config.empty()) given = settings_in_file(options.config);
  given = overridden(given, settings_in_environment());
  return resolve_settings(overridden(given, options.flags));
}

/// Throws Failure unless there are steps left to take.
void check_steps(const Session& session, Index steps_done) {
  const Index wanted = session.settings().steps;
  if (steps_done < wanted) return;
  throw Failure(kUsage, text("train: ", session.folder().path().string(), " is done: ", steps_done,
                             " of ", wanted, " steps\n  hint   --steps ", 2 * steps_done));
}

void check_target(double target, const Evaluation& evaluation) {
  const double percent = 100.0 * evaluation.exact_share();
  if (percent >= target) return;
  throw Failure(
      kCriterionMissed,
      format("train: held-out exact match is %.2f %%, below the target of %g %%", percent, target));
}

ExitCode train(const TrainOptions& options) {
  const ResolvedSettings resolved = settings_of(options);
  const RunSettings& settings = resolved.settings;
  if (settings.is_text() && options.target) {
    throw Failure(kUsage, "train text: --target is of exact answers, which text has none of");
  }
  if (options.dry_run) {
    std::cout << settings_table_text(resolved);
    return kWell;
  }
  const bool resumes = !options.resume.empty();
  Session session(settings,
                  resumes ? RunFolder(options.resume) : folder_for(settings, options.overwrite));
  if (resumes) check_steps(session, session.resume());

  const SessionResult result = session.run({.output = options.json ? Output::json : Output::text,
                                            .quiet = options.quiet,
                                            .verbose = options.verbose});
  if (result.was_interrupted) return kInterrupted;
  if (!options.json) report_next_after(session);
  if (options.target) check_target(*options.target, result.evaluation);
  return kWell;
}

}  // namespace

void add_train_command(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<TrainOptions>();
  CLI::App& command = *app.add_subcommand("train", "Train a model on a task");
  add_setting_options(command, options->flags);
  CLI::Option* config =
      command.add_option("--config", options->config, "Settings from a TOML file: lr = 1e-3");
  config->type_name("FILE")->group("The run");
  CLI::Option* overwrite =
      command.add_flag("--overwrite", options->overwrite, "Replace a run that is already there");
  overwrite->group("The run");
  command.add_option("--resume", options->resume, "Go on with a run, bit for bit; see below")
      ->type_name("RUN")
      ->group("The run")
      ->excludes(config, overwrite);
  command.add_flag("--dry-run", options->dry_run, "Only show all settings, and where each is from")
      ->group("The run");
  const auto check = [](const std::string& given) {
    return read_number(given, 0.0, 100.0) ? std::string() : needs_number(given, 0.0, 100.0);
  };
  command
      .add_option("--target", options->target,
                  "Exit with 1 unless so many % of the held-out answers are exact")
      ->type_name("N")
      ->check(CLI::Validator(check, ""))
      ->group("Output");
  command.add_flag("--json", options->json, "Results as lines of JSON")->group("Output");
  command.add_flag("-q,--quiet", options->quiet, "No progress, only results")->group("Output");
  command.add_flag("-v,--verbose", options->verbose, "The model layer by layer, too")
      ->group("Output");
  command.footer(
      "Defaults depend on the task: gradus train TASK --dry-run shows them. A setting is taken "
      "from\n"
      "the command line, else from the environment (GRADUS_TRAIN_WEIGHT_DECAY=0), else from\n"
      "--config, else it is the default. Ctrl-C saves after the current step; a second one ends "
      "at\n"
      "once. A run that is resumed has its own settings; only --steps and --threads can change, "
      "and\n"
      "with more steps the learning rate follows the longer schedule from there on.\n"
      "Exit codes: 0 well, 1 target missed, 2 usage, 3 data or checkpoint, 4 not a number, 130\n"
      "interrupted.");
  command.callback([&chosen, options] { chosen = [options] { return train(*options); }; });
}

}  // namespace examples
