#include "examples/train_reverse/training.h"

#include <algorithm>
#include <cmath>

#include "examples/support/exit_code.h"
#include "examples/support/interrupt.h"
#include "examples/support/progress.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kProbeEvery = 10;            // steps
constexpr std::size_t kPredictAtOnce = 250;  // sequences

std::vector<Sequence> draw_batch(const Data& data, Index size, Generator& generator) {
  std::vector<Sequence> batch;
  for (Index i = 0; i < size; ++i) {
    batch.push_back(data.train[generator.random_below(data.train.size())]);
  }
  return batch;
}

/// The mean cross-entropy of all digits.
Tensor loss_of(const ReverseModel& model, std::span<const Sequence> batch) {
  std::vector<Sequence> wanted;
  for (const Sequence& sequence : batch) wanted.push_back(reversed(sequence));
  const Tensor logits = model(stacked(batch)).logits;
  return cross_entropy(logits.view({-1, kDigits}), stacked(wanted).view({-1}));
}

double exact_share(const ReverseModel& model, std::span<const Sequence> sequences) {
  const std::size_t exact = count_exact(sequences, predict(model, sequences));
  return static_cast<double>(exact) / static_cast<double>(sequences.size());
}

}  // namespace

Training train(const ReverseModel& model, const Data& data, const Options& options,
               Generator& generator) {
  Adam adam(model.parameters(), {.lr = options.lr});
  const std::string title = text("train reverse seed=", options.seed, " steps=", options.steps,
                                 " batch=", options.batch, " params=", model.parameter_count());
  Progress progress(options.steps, title, options.quiet);

  Training training;
  while (training.steps < options.steps && !interrupted()) {
    const Tensor loss = loss_of(model, draw_batch(data, options.batch, generator));
    const double loss_value = loss.item();
    ++training.steps;
    if (!std::isfinite(loss_value)) {
      throw Failure(kNotANumber, text("the loss is ", loss_value, " at step ", training.steps,
                                      "\n  hint   a smaller --lr than ", options.lr));
    }
    adam.zero_grad();
    loss.backward();
    adam.step();

    if (training.steps % kProbeEvery == 0) {
      const double share = exact_share(model, data.probe());
      progress.set_held_out(share);
      if (training.target_step == 0 && 100.0 * share >= options.target) {
        training.target_step = training.steps;
        training.target_seconds = progress.seconds();
      }
    }
    progress.step(loss_value);
  }
  progress.finish();
  training.seconds = progress.seconds();
  training.loss = progress.smoothed_loss();
  return training;
}

std::vector<Sequence> predict(const ReverseModel& model, std::span<const Sequence> sequences) {
  const NoGrad no_grad;
  std::vector<Sequence> predictions;
  while (!sequences.empty()) {
    const auto batch = sequences.first(std::min(sequences.size(), kPredictAtOnce));
    const Tensor best = model(stacked(batch)).logits.max(-1).indices;  // (B, length)
    for (Index i = 0; i < best.size(0); ++i) predictions.push_back(best[i].to_vector<Index>());
    sequences = sequences.subspan(batch.size());
  }
  return predictions;
}

std::size_t count_exact(std::span<const Sequence> sequences,
                        std::span<const Sequence> predictions) {
  std::size_t exact = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (predictions[i] == reversed(sequences[i])) ++exact;
  }
  return exact;
}

}  // namespace examples
