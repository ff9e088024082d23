#include "examples/gradus/settings/setting_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "examples/gradus/tasks/task.h"
#include "examples/support/number.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

constexpr double kLargest = 1e30;

/// The shortest text that reads back as the same number.
template <class Number>
std::string exact(Number number) {
  std::array<char, 64> buffer{};
  char* const start = buffer.data();
  return {start, std::to_chars(start, start + buffer.size(), number).ptr};
}

/// Settings of one group, added one after another.
class Group {
 public:
  Group(std::vector<Setting>& all, std::string name) : all_(all), name_(std::move(name)) {}

  template <class Number>
  Setting& number(const std::string& name, Number RunSettings::*field, Number low, Number high,
                  const std::string& meaning) {
    return add({.name = name,
                .takes = "N",
                .meaning = text(meaning, " (", low, " to ", high, ")"),
                .read = [=](RunSettings& settings, const std::string& given) -> std::string {
                  const auto value = read_number<Number>(given, low, high);
                  if (!value) return needs_number(given, low, high);
                  settings.*field = *value;
                  return "";
                },
                .show = [=](const RunSettings& settings) { return exact(settings.*field); }});
  }

  Setting& words(const std::string& name, std::string RunSettings::*field, const std::string& takes,
                 const std::string& meaning) {
    return add({.name = name,
                .takes = takes,
                .meaning = meaning,
                .is_number = false,
                .read = [=](RunSettings& settings, const std::string& given) -> std::string {
                  settings.*field = given;
                  return "";
                },
                .show = [=](const RunSettings& settings) { return settings.*field; }});
  }

  Setting& choice(const std::string& name, std::string RunSettings::*field,
                  const std::vector<std::string>& choices, const std::string& meaning) {
    std::string list;
    for (const std::string& each : choices) list += (list.empty() ? "" : ", ") + each;
    Setting& setting = words(name, field, "NAME", meaning + " (" + list + ")");
    setting.read = [=](RunSettings& settings, const std::string& given) -> std::string {
      const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
      if (!known) return "needs one of " + list + ", not '" + given + "'";
      settings.*field = given;
      return "";
    };
    return setting;
  }

 private:
  Setting& add(Setting setting) {
    setting.group = name_;
    all_.push_back(std::move(setting));
    return all_.back();
  }

  std::vector<Setting>& all_;
  std::string name_;
};

void add_task_settings(std::vector<Setting>& all) {
  using S = RunSettings;
  Group task(all, "The task");
  task.words("task", &S::task, "TASK", "What is learnt: see gradus tasks");
  const auto made_up = [](Setting& setting) { setting.scope = SettingScope::made_up; };
  const auto of_text = [](Setting& setting) { setting.scope = SettingScope::text; };
  made_up(task.number<Index>("length", &S::length, 1, 64, "Symbols, digits, or pairs"));
  made_up(task.number<Index>("symbols", &S::symbols, 2, 26, "How many different ones"));
  made_up(task.number<Index>("train-samples", &S::train_samples, 1, 1'000'000, "To train on"));
  made_up(task.number<Index>("held-out", &S::held_out, 1, 100'000, "Kept back to measure with"));
  of_text(task.words("file", &S::file, "PATH", "The text, of which the last tenth is kept back"));
  of_text(task.number<Index>("block", &S::block, 1, 4096, "Characters that are read at once"));
}

void add_model_settings(std::vector<Setting>& all) {
  using S = RunSettings;
  Group model(all, "The model");
  model.number<Index>("layers", &S::layers, 1, 48, "Decoder layers");
  model.number<Index>("heads", &S::heads, 1, 64, "Heads per layer");
  model.number<Index>("width", &S::width, 1, 4096, "Features per position");
  model.choice("positions", &S::positions, {"learned", "rotary"}, "How it knows them");
  model.choice("norm", &S::norm, {"layer", "rms"}, "Normalisation");
  model.choice("activation", &S::activation, {"relu", "gelu", "swiglu"}, "Of feed-forward nets");
  model.number("dropout", &S::dropout, 0.0, 0.99, "Share of activations left out");
}

void add_training_settings(std::vector<Setting>& all) {
  using S = RunSettings;
  Group training(all, "Training");
  training.number<Index>("steps", &S::steps, 1, 100'000'000, "All of which are taken");
  training.number<Index>("batch", &S::batch, 1, 65'536, "Sequences per step");
  training.number("lr", &S::lr, 0.0, kLargest, "Learning rate of AdamW after the warm-up");
  training.number("min-lr", &S::min_lr, 0.0, kLargest, "At the end of its cosine");
  training.number<Index>("warmup", &S::warmup, 0, 100'000'000, "Steps in which the rate rises");
  training.number("beta1", &S::beta1, 0.0, 0.999999, "Memory of gradients");
  training.number("beta2", &S::beta2, 0.0, 0.999999, "Memory of squared gradients");
  training.number("weight-decay", &S::weight_decay, 0.0, 1e3, "Of matrices");
  training.number("clip", &S::clip, 0.0, kLargest, "Largest gradient norm; 0 for none");
}

void add_run_settings(std::vector<Setting>& all) {
  using S = RunSettings;
  Group run(all, "The run");
  run.number("seed", &S::seed, 0U, 4'294'967'295U, "Of model and data");
  run.number<Index>("evaluate-every", &S::evaluate_every, 1, 100'000'000, "Steps");
  run.number<Index>("checkpoint-every", &S::checkpoint_every, 1, 100'000'000, "Steps");
  run.number("threads", &S::threads, 1, 1024, "Results do not depend on it").makes_the_run = false;
  Setting& out = run.words("out", &S::out, "PATH", "Folder of the run (run/TASK-SEED)");
  out.makes_the_run = false;
  out.show = [](const S& settings) { return settings.folder_name(); };
}

std::vector<Setting> all_settings() {
  std::vector<Setting> all;
  add_task_settings(all);
  add_model_settings(all);
  add_training_settings(all);
  add_run_settings(all);
  return all;
}

}  // namespace

std::string Setting::environment_name() const {
  std::string result = "GRADUS_TRAIN_";
  for (const char c : name) {
    result += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return result;
}

bool Setting::applies_to(const RunSettings& settings) const {
  if (scope == SettingScope::text) return settings.is_text();
  if (scope == SettingScope::all) return true;
  const Task* task = find_task(settings.task);
  return task && (name != "symbols" || task->symbols.most > 0);
}

const std::vector<Setting>& setting_table() {
  static const std::vector<Setting> table = all_settings();
  return table;
}

const Setting* find_setting(const std::string& name) {
  const auto found = std::find_if(setting_table().begin(), setting_table().end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == setting_table().end() ? nullptr : &*found;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : setting_table()) names.push_back(setting.name);
  return names;
}

}  // namespace examples
