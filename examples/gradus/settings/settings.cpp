#include "examples/gradus/settings/settings.h"

#include <vector>

#include "examples/gradus/tasks/task.h"
#include "examples/support/exit_code.h"
#include "examples/support/nearest.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

RunSettings text_defaults() {
  RunSettings settings;
  settings.task = kTextTask;
  settings.layers = 4;
  settings.width = 128;
  settings.steps = 2000;
  settings.batch = 12;
  settings.lr = 1e-3;
  settings.warmup = 100;
  settings.evaluate_every = 200;
  settings.checkpoint_every = 400;
  return settings;
}

Failure unknown_task(const std::string& name) {
  std::vector<std::string> known;
  for (const Task& task : all_tasks()) known.push_back(task.name);
  known.emplace_back(kTextTask);
  std::string list;
  for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
  if (name.empty()) return {kUsage, "train: which task?\n  need   one of " + list};
  return {kUsage, "train: unknown task '" + name + "'" + did_you_mean(name, known) +
                      "\n  need   one of " + list};
}

void check_range(const char* name, Index value, const SizeRange& range, const std::string& task) {
  if (range.most == 0 || (value >= range.least && value <= range.most)) return;
  throw Failure(kUsage, text("train ", task, ": ", name, " must be from ", range.least, " to ",
                             range.most, ", not ", value));
}

void check_task(const RunSettings& settings) {
  const Task& task = *find_task(settings.task);
  check_range("length", settings.length, task.length, task.name);
  check_range("symbols", settings.symbols, task.symbols, task.name);
  if (!task.problem) return;
  const std::string problem = task.problem({settings.length, settings.symbols});
  if (problem.empty()) return;
  throw Failure(kUsage, text("train ", task.name, ": ", problem, "\n  got    length ",
                             settings.length, ", symbols ", settings.symbols));
}

}  // namespace

RunSettings default_settings(const std::string& name) {
  if (name == kTextTask) return text_defaults();
  const Task* task = find_task(name);
  if (!task) throw unknown_task(name);
  RunSettings settings;
  settings.task = name;
  settings.length = task->length.usual;
  settings.symbols = task->symbols.usual;
  settings.steps = task->steps;
  settings.lr = task->lr;
  return settings;
}

void check_settings(const RunSettings& settings) {
  if (settings.width % settings.heads != 0) {
    throw Failure(kUsage, text("train: width ", settings.width, " cannot be split into ",
                               settings.heads, " heads"));
  }
  if (settings.min_lr > settings.lr) {
    throw Failure(kUsage, text("train: min-lr ", settings.min_lr, " is above lr ", settings.lr));
  }
  if (!settings.is_text()) check_task(settings);
  if (settings.is_text() && settings.file.empty()) {
    throw Failure(kUsage, "train text: which text?\n  hint   --file PATH");
  }
}

}  // namespace examples
