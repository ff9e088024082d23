// A run that was stopped, in order or by force, and resumed must end with the very bits of one that
// was not.
#include <csignal>

#include "examples/gradus/model.h"
#include "examples/gradus/tasks/task.h"
#include "examples/gradus/training/trainer.h"
#include "examples/support/interrupt.h"
#include "framework/core/error.h"
#include "framework/io/file.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"
#include "tests/support/child.h"

using namespace examples;
using gradus::read_file;
using gradus::testing::ScratchFolder;

namespace {

constexpr Index kSteps = 7;

RunSettings small_settings(const std::string& task, const ScratchFolder& folder) {
  RunSettings settings = default_settings(task);
  settings.layers = 2;
  settings.heads = 2;
  settings.width = 16;
  settings.steps = kSteps;
  settings.batch = 24;
  settings.dropout = 0.1;
  settings.train_samples = 60;  // an epoch ends within the run
  settings.held_out = 20;
  settings.block = 16;
  settings.checkpoint_every = 3;
  settings.evaluate_every = 2;
  if (settings.is_text()) {
    settings.file = (folder.path() / "text.txt").string();
    std::string text;
    for (int i = 0; i < 500; ++i) text += static_cast<char>('a' + i * i % 17);
    gradus::write_file(settings.file, text);
  }
  return settings;
}

/// Sends this process a signal after some step.
class SignalAfter : public StepListener {
 public:
  SignalAfter(Index step, int signal) : step_(step), signal_(signal) {}
  void on_step(const Step& step) override {
    if (step.number == step_) std::raise(signal_);
  }

 private:
  Index step_;
  int signal_;
};

/// In this process: a run with all that a sitting does to it, but without a word.
void train(const RunSettings& settings, const RunFolder& folder, bool resumes, int signal) {
  gradus::set_num_threads(settings.threads);
  catch_interrupts();
  if (!resumes) folder.start(settings);
  const auto data = make_dataset(settings);
  gradus::manual_seed(settings.seed);
  gradus::GPT model = make_model(settings, data->vocabulary().size(), data->block_size());
  Trainer trainer(settings, *data, model, folder);
  SignalAfter stop(4, signal);
  if (signal != 0) trainer.add_listener(stop);
  if (resumes) trainer.resume_from(folder.checkpoints(settings).latest());
  trainer.run();
}

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

// What the cases below run in processes of their own, which signals may end.
TEST_CASE("a sitting of a run", "[.][gradus-sitting]") {
  if (!gradus::testing::is_child()) return;
  const RunFolder folder(value_of("RUN"));
  train(folder.settings(), folder, value_of("RESUMES") == "1", std::stoi(value_of("SIGNAL")));
}

TEST_CASE("a resumed run ends with the bits of one that was not stopped", "[gradus][resume]") {
  const ScratchFolder scratch;
  std::vector<std::string> names{kTextTask};
  for (const Task& task : all_tasks()) names.push_back(task.name);
  for (const std::string& name : names) {
    INFO(name);
    const RunSettings settings = small_settings(name, scratch);
    const RunFolder whole(scratch.path() / (name + "-whole"));
    train(settings, whole, false, 0);
    const std::string wanted = read_file(whole.model());

    for (const int signal : {SIGTERM, SIGKILL}) {
      const RunFolder stopped(scratch.path() / (name + std::to_string(signal)));
      stopped.start(settings);
      for (const char* resumes : {"0", "1"}) {
        const std::string sitting =
            gradus::text("RUN='", stopped.path().string(), "' RESUMES=", resumes,
                         " SIGNAL=", *resumes == '0' ? signal : 0);
        // The threads are as many in the first sitting as in the whole run, and then others.
        const char* threads = *resumes == '0' ? " GRADUS_NUM_THREADS=1" : " GRADUS_NUM_THREADS=2";
        gradus::testing::run_child(sitting + threads, "[gradus-sitting]");
        if (*resumes == '0') CHECK(read_file(stopped.model()) != wanted);
      }
      CHECK(read_file(stopped.model()) == wanted);
    }
  }
}
