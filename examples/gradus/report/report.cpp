#include "examples/gradus/report/report.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "examples/gradus/command.h"
#include "examples/gradus/settings/setting_table.h"
#include "examples/gradus/tasks/task.h"
#include "examples/gradus/training/gradient_groups.h"
#include "examples/gradus/watch/predictions.h"
#include "examples/support/format.h"
#include "examples/support/text_layout.h"
#include "examples/support/visible.h"
#include "framework/core/error.h"
#include "framework/kernels/instruction_set.h"
#include "layers/summary.h"

namespace examples {
namespace {

using gradus::text;

void write(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << line << "\n";
}

std::vector<std::string> task_fields(const Session& session) {
  const RunSettings& settings = session.settings();
  if (settings.is_text()) {
    return {"text: what comes next,", "character by character (UTF-8)", "of " + settings.file};
  }
  const Task& task = *find_task(settings.task);
  const bool has_symbols = task.symbols.most > 0;
  return {text(task.name, ": ", task.meaning, ";"),
          text(settings.length, " ", task.length_unit, has_symbols ? "," : ""),
          has_symbols ? text(settings.symbols, " symbols") : ""};
}

std::vector<std::string> model_fields(const Session& session) {
  const RunSettings& settings = session.settings();
  const auto bytes = static_cast<double>(session.model().parameter_count() * Index{sizeof(float)});
  return {text(settings.layers, settings.layers == 1 ? " layer, " : " layers, ", settings.heads,
               settings.heads == 1 ? " head" : " heads", ", width ", settings.width, ","),
          text("block ", session.data().block_size(), ", ", settings.positions, " positions,"),
          text(grouped(session.model().parameter_count()), " parameters (", byte_size(bytes), ")")};
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

}  // namespace

void report_start(const Session& session, bool verbose) {
  const RunSettings& settings = session.settings();
  const int width = Terminal(STDOUT_FILENO).width() - 1;
  const Index vocab_size = session.data().vocabulary().size();
  write(flow(task_fields(session), {.width = width, .label = "task   ", .between = " "}));
  write(flow({session.data().sizes()}, {.width = width, .label = "data   "}));
  write(flow(model_fields(session), {.width = width, .label = "model  ", .between = " "}));
  write(flow({text("seed ", settings.seed, ", float32, threads ", gradus::num_threads(), ", ",
                   gradus::instruction_set(), ","),
              text("writes ", session.folder().path().string())},
             {.width = width, .label = "run    ", .between = " "}));
  write({text("loss   of knowing nothing: ln ", vocab_size,
              format(" = %.3f", std::log(static_cast<double>(vocab_size))))});
  if (verbose) std::cout << "\n" << gradus::summary(session.model());
  std::cout << "\n" << std::flush;  // before the progress, which goes another way
}

void report_results(const Session& session, const SessionResult& result) {
  const Evaluation& seen = result.evaluation;
  std::cout << "done " << result.training.steps
            << format(" steps in %.1f s\n", result.training.seconds);
  if (seen.has_exact()) {
    std::cout << format("  held-out exact    %.2f %%", 100.0 * seen.exact_share()) << "  ("
              << grouped(seen.exact) << " / " << grouped(seen.samples) << ")\n";
  }
  if (result.training.learnt_step > 0) {
    std::cout << format("  %.0f %% reached      step ", 100.0 * kLearnt)
              << result.training.learnt_step << "\n";
  }
  std::cout << format("  held-out loss     %.4f\n", seen.loss)
            << format("  training loss     %.4f (smoothed)\n", result.training.smoothed_loss)
            << "  without gradient  " << joined(without_gradient(session.model())) << "\n"
            << "  model             " << session.folder().model().string() << "\n"
            << "  curve             " << session.folder().metrics().string() << "\n";
  if (!seen.writing.empty()) std::cout << "\nit writes:\n" << printable(seen.writing) << "\n";
  if (seen.predictions.empty()) return;
  const Terminal terminal(STDOUT_FILENO);
  std::cout << "\npredictions, mistakes first:\n";
  write(prediction_lines(seen.predictions, terminal, terminal.width() - 1));
}

void report_interrupt(const Session& session, const TrainingResult& training) {
  const std::string folder = session.folder().path().string();
  std::cerr << "interrupted after step " << training.steps << ": saved in " << folder
            << "\nresume: " << program_name << " train --resume " << folder << "\n";
}

void report_next(const std::vector<std::pair<std::string, std::string>>& commands) {
  std::cout << "\nnext:\n";
  for (const auto& [command, purpose] : commands) {
    std::cout << "  # " << purpose << "\n  " << program_name << " " << command << "\n";
  }
  std::cout << std::flush;
}

void report_next_after(const Session& session) {
  const RunSettings& settings = session.settings();
  const std::string folder = session.folder().path().string();
  const std::string sample = settings.is_text() ? " --tokens 500" : " --show attention";
  report_next({{"sample " + folder + sample, settings.is_text() ? "more of it" : "look inside"},
               {"plot " + folder, "its curves as a picture"},
               {text("train --resume ", folder, " --steps ", 2 * settings.steps), "go on"}});
}

}  // namespace examples
