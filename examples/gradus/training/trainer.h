// Trainer: the loop. AdamW on batches of the dataset, with a look at what is held out and a
// checkpoint now and then. A run that goes on from a checkpoint takes the very steps, bit for bit,
// that it would have taken without the pause.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "examples/gradus/records/recorded_metrics.h"
#include "examples/gradus/records/run_folder.h"
#include "examples/gradus/training/metrics_file.h"
#include "examples/gradus/training/step.h"
#include "examples/support/smoothed.h"
#include "framework/core/random.h"
#include "framework/optim/adam.h"
#include "framework/optim/schedule.h"

namespace examples {

/// The share of exact answers that counts as learnt.
inline constexpr double kLearnt = 0.99;

struct TrainingResult {
  Index steps = 0;  ///< fewer than wanted when it was interrupted
  double seconds = 0.0;
  double smoothed_loss = 0.0;
  Index learnt_step = 0;  ///< when a quick look first found kLearnt; 0 for never
};

class Trainer {
 public:
  /// Works on all of these, which must outlive it.
  Trainer(const RunSettings& settings, Dataset& data, gradus::GPT& model, const RunFolder& folder);

  /// Is told of every step.
  void add_listener(StepListener& listener) { listeners_.push_back(&listener); }
  /// Goes on from a checkpoint of the same settings. Throws IoError for another one.
  void resume_from(const gradus::Checkpoint& checkpoint);
  Index steps_done() const { return result_.steps; }

  /// Takes the rest of the steps, or those until an interrupt, and saves. Throws Failure when loss
  /// or gradient are no longer numbers.
  TrainingResult run();
  /// Saves the model and all that is needed to go on; returns the checkpoint.
  std::filesystem::path save(std::optional<double> score = std::nullopt) const;

 private:
  Step take_step();
  gradus::Tensor loss_of(const Batch& batch) const;
  void look_at_held_out(Step& step);
  /// None where they cannot be read.
  RecordedMetrics metrics_until(std::uintmax_t bytes) const;
  [[noreturn]] void fail(const std::string& what, const Batch& batch,
                         const gradus::Generator& before);

  const RunSettings& settings_;
  Dataset& data_;
  gradus::GPT& model_;
  const RunFolder& folder_;
  gradus::CheckpointFolder checkpoints_;
  gradus::AdamW optimizer_;
  gradus::Schedule rate_;
  std::unique_ptr<MetricsFile> metrics_;
  std::vector<StepListener*> listeners_;
  Smoothed loss_{0.95};
  TrainingResult result_;
  // Of earlier sittings.
  Index steps_before_ = 0;
  double seconds_before_ = 0.0;
  std::uintmax_t metrics_before_ = 0;
};

}  // namespace examples
