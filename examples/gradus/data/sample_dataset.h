// SampleDataset: random samples of a task, no two of them equal, so that none is trained on and
// held out at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "examples/gradus/data/dataset.h"
#include "examples/gradus/data/epoch_sampler.h"
#include "examples/gradus/tasks/task.h"

namespace examples {

/// Samples of a task, as the model reads them.
struct SampleSplit {
  std::vector<Sample> train;
  std::vector<Sample> held_out;
};

/// As many as the settings want, or, where so many do not exist, all that can be found, in the same
/// proportion. Throws Failure where that is too few.
SampleSplit draw_samples(const Task& task, const RunSettings& settings);

class SampleDataset : public Dataset {
 public:
  SampleDataset(const Task& task, const RunSettings& settings);

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  Index block_size() const override;
  std::string sizes() const override;
  Batch next_batch(Index size) override;
  std::string state() const override { return sampler_.state(); }
  void set_state(const std::string& state) override { sampler_.set_state(state); }
  Evaluation evaluate(gradus::GPT& model, Look look) const override;

  /// Inputs and targets of these samples; the question has no targets.
  Batch batch_of(const std::vector<const Sample*>& samples) const;
  const std::vector<Sample>& held_out() const { return split_.held_out; }

 private:
  /// With dropout off; all predictions, in order.
  Evaluation evaluate_some(const gradus::GPT& model, std::span<const Sample> some) const;

  Vocabulary vocabulary_;
  SampleSplit split_;
  EpochSampler sampler_;
};

}  // namespace examples
