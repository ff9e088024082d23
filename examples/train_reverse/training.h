// Training: Adam on batches of the training sequences, with a look at held-out ones now and then.
#pragma once

#include <span>
#include <vector>

#include "examples/train_reverse/model.h"
#include "examples/train_reverse/options.h"
#include "examples/train_reverse/task.h"

namespace examples {

struct Training {
  gradus::Index steps = 0;  ///< fewer than wanted when it was interrupted
  double seconds = 0.0;
  double loss = 0.0;              ///< smoothed
  gradus::Index target_step = 0;  ///< when the probe first reached the target; 0 for never
  double target_seconds = 0.0;    ///< the time until then
};

/// Draws its batches from `generator`. Throws Failure when the loss is no longer a number.
Training train(const ReverseModel& model, const Data& data, const Options& options,
               gradus::Generator& generator);

/// What the model makes of each sequence: the likeliest digit at every position.
std::vector<Sequence> predict(const ReverseModel& model, std::span<const Sequence> sequences);

/// How many sequences were reversed without a mistake.
std::size_t count_exact(std::span<const Sequence> sequences, std::span<const Sequence> predictions);

}  // namespace examples
