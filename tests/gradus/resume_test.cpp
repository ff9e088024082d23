// A run that was stopped, in order or by force, and resumed must end with the very bits of one that
// was not: its weights, what the optimiser remembers, and the loss of every step.
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "examples/gradus/model.h"
#include "examples/gradus/tasks/task.h"
#include "examples/gradus/training/trainer.h"
#include "examples/support/interrupt.h"
#include "framework/core/error.h"
#include "framework/io/file.h"
#include "framework/io/safetensors.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"
#include "tests/support/child.h"

using namespace examples;
using gradus::read_file;
using gradus::testing::ScratchFolder;

namespace {

constexpr Index kSteps = 7;
constexpr Index kStopAfter = 4;  // in the middle of an epoch, and behind the checkpoint of step 3

RunSettings small_settings(const std::string& task, const ScratchFolder& folder) {
  RunSettings settings = default_settings(task);
  settings.layers = 2;
  settings.heads = 2;
  settings.width = 16;
  settings.steps = kSteps;
  settings.batch = 24;
  settings.dropout = 0.1;
  settings.train_samples = 60;  // 2.5 batches: an epoch ends within the run, and within a batch
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
  catch_interrupts();
  if (!resumes) folder.start(settings);
  const auto data = make_dataset(settings);
  gradus::manual_seed(settings.seed);
  gradus::GPT model = make_model(settings, data->vocabulary().size(), data->block_size());
  Trainer trainer(settings, *data, model, folder);
  SignalAfter stop(kStopAfter, signal);
  if (signal != 0) trainer.add_listener(stop);
  if (resumes) trainer.resume_from(folder.checkpoints(settings).latest());
  trainer.run();
}

/// The same in a process of its own, which the signal may end.
void sit_down(const RunFolder& folder, int threads, bool resumes, int signal) {
  const std::string what = gradus::text("RUN='", folder.path().string(), "' RESUMES=", resumes,
                                        " SIGNAL=", signal, " GRADUS_NUM_THREADS=", threads);
  gradus::testing::run_child(what, "[gradus-sitting]");
}

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Every line of the metrics without the time that it took. Numbers stand there to the last bit.
std::vector<std::string> steps_of(const RunFolder& folder) {
  std::vector<std::string> steps;
  std::istringstream lines(read_file(folder.metrics()));
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json step = nlohmann::json::parse(line);
    step.erase("seconds");
    steps.push_back(step.dump());
  }
  return steps;
}

/// All bytes of the last checkpoint but the time, and how long the metrics' digits make it.
std::string checkpoint_of(const RunFolder& folder, const RunSettings& settings) {
  gradus::Checkpoint checkpoint = folder.checkpoints(settings).latest();
  std::string text = gradus::text(checkpoint.step);
  for (const auto& [name, value] : checkpoint.state) {
    if (name != "milliseconds" && name != "metrics_bytes") text += "\n" + name + " " + value;
  }
  gradus::StateDict tensors = gradus::state_as("model", checkpoint.model);
  tensors.merge(gradus::state_as("optimizer", checkpoint.optimizer));
  return text + gradus::safetensors_bytes(tensors);
}

void check_same(const RunFolder& run, const RunFolder& whole, const RunSettings& settings) {
  CHECK(read_file(run.model()) == read_file(whole.model()));
  CHECK(checkpoint_of(run, settings) == checkpoint_of(whole, settings));
  CHECK(steps_of(run) == steps_of(whole));
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
    const RunSettings settings = small_settings(name, scratch);
    const RunFolder whole(scratch.path() / (name + "-whole"));
    train(settings, whole, false, 0);  // with as many threads as these tests have
    REQUIRE(steps_of(whole).size() == kSteps);

    for (const int threads : {1, 2}) {
      for (const int signal : {SIGTERM, SIGKILL}) {
        INFO(name << ", " << threads << " threads, signal " << signal);
        const RunFolder stopped(scratch.path() / gradus::text(name, "-", threads, "-", signal));
        stopped.start(settings);
        sit_down(stopped, threads, false, signal);
        // SIGTERM is answered by a checkpoint; kill -9 leaves the one before, and later metrics.
        CHECK(stopped.checkpoints(settings).latest().step == (signal == SIGTERM ? 4 : 3));
        CHECK(steps_of(stopped).size() == kStopAfter);
        sit_down(stopped, threads, true, 0);
        check_same(stopped, whole, settings);
      }
    }
  }
}

TEST_CASE("a run goes on with other threads, and with every choice of model, to the same bits",
          "[gradus][resume]") {
  const ScratchFolder scratch;
  RunSettings settings = small_settings("sort", scratch);
  settings.positions = "rotary";
  settings.norm = "rms";
  settings.activation = "swiglu";
  const RunFolder whole(scratch.path() / "whole");
  train(settings, whole, false, 0);
  const RunFolder stopped(scratch.path() / "stopped");
  stopped.start(settings);
  sit_down(stopped, 1, false, SIGKILL);
  sit_down(stopped, 2, true, SIGTERM);
  sit_down(stopped, 2, true, 0);
  check_same(stopped, whole, settings);
}
