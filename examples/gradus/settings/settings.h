// Settings: all that a training run depends on. The same settings give the same model, bit for bit,
// on any number of threads.
#pragma once

#include <cstdint>
#include <string>

#include "framework/core/dtype.h"
#include "framework/core/parallel.h"

namespace examples {

using gradus::Index;

/// The name of the one task that is not made up but read from a file.
inline constexpr const char* kTextTask = "text";

struct RunSettings {
  std::string task;
  std::uint32_t seed = 1;

  // What is learnt: the first four of tasks that are made up, the others of text.
  Index length = 0;
  Index symbols = 0;
  Index train_samples = 20'000;
  Index held_out = 2'000;
  std::string file{};
  Index block = 64;

  // The model.
  Index layers = 2;
  Index heads = 4;
  Index width = 64;
  std::string positions = "learned";
  std::string norm = "layer";
  std::string activation = "gelu";
  double dropout = 0.0;

  // Training: AdamW.
  Index steps = 0;
  Index batch = 64;
  double lr = 0.0;
  double min_lr = 1e-4;
  Index warmup = 50;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.1;
  double clip = 1.0;

  // The run.
  Index evaluate_every = 50;
  Index checkpoint_every = 200;
  int threads = gradus::num_threads();
  std::string out{};  ///< empty for a folder named after task and seed

  bool is_text() const { return task == kTextTask; }
  std::string folder_name() const {
    return out.empty() ? "run/" + task + "-" + std::to_string(seed) : out;
  }
};

/// What a task is trained with unless something else is said. Throws Failure for an unknown task.
RunSettings default_settings(const std::string& task);

/// Throws Failure for settings that do not fit together.
void check_settings(const RunSettings& settings);

}  // namespace examples
