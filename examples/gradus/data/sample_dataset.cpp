#include "examples/gradus/data/sample_dataset.h"

#include <algorithm>
#include <set>
#include <utility>

#include "examples/gradus/data/eval_mode.h"
#include "examples/support/exit_code.h"
#include "examples/support/format.h"
#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "framework/ops/extreme.h"
#include "framework/ops/loss.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kLeastHeldOut = 2;
constexpr std::size_t kQuickSamples = 250;
constexpr std::size_t kEvaluateAtOnce = 125;
constexpr std::size_t kShownPredictions = 4;
/// So many draws in a row that bring nothing new: there is nothing new.
constexpr Index kVainDraws = 10'000;

/// Samples without a question that comes twice, as many as wanted and found.
std::vector<Sample> draw_distinct(const Task& task, const TaskSize& size, Index wanted,
                                  Generator& generator) {
  std::vector<Sample> samples;
  std::set<std::string> seen;
  for (Index vain = 0; vain < kVainDraws && std::ssize(samples) < wanted;) {
    Sample sample = task.draw(size, std::ssize(samples), generator);
    const bool is_new = seen.insert(sample.question).second;
    vain = is_new ? 0 : vain + 1;
    if (is_new) samples.push_back(std::move(sample));
  }
  return samples;
}

Vocabulary vocabulary_of(const Task& task, const RunSettings& settings) {
  return Vocabulary(task.alphabet({settings.length, settings.symbols}) + kEquals);
}

/// The likeliest answers (B, T) as text, from the targets' places.
std::vector<Prediction> predictions_of(const std::vector<const Sample*>& samples,
                                       const Tensor& likeliest, const Vocabulary& vocabulary) {
  std::vector<Prediction> predictions;
  for (Index i = 0; i < likeliest.size(0); ++i) {
    const Sample& sample = *samples[static_cast<std::size_t>(i)];
    const auto start = static_cast<Index>(sample.question.size());
    const std::vector<Index> answer = likeliest[i].slice(0, start).to_vector<Index>();
    predictions.push_back({sample.question, vocabulary.decode(answer), sample.answer});
  }
  return predictions;
}

void keep_mistakes_first(std::vector<Prediction>& predictions) {
  std::stable_partition(predictions.begin(), predictions.end(),
                        [](const Prediction& each) { return !each.is_right(); });
  predictions.resize(std::min(predictions.size(), kShownPredictions));
}

}  // namespace

SampleSplit draw_samples(const Task& task, const RunSettings& settings) {
  const Index wanted = settings.train_samples + settings.held_out;
  Generator generator(settings.seed);
  std::vector<Sample> samples =
      draw_distinct(task, {settings.length, settings.symbols}, wanted, generator);
  const Index held_out = settings.held_out * std::ssize(samples) / wanted;
  if (held_out < kLeastHeldOut) {
    throw Failure(kData, text("train ", task.name, ": only ", samples.size(),
                              " different questions exist, of which ", held_out,
                              " would be held out\n  need   at least ", kLeastHeldOut,
                              "\n  hint   a larger --length"));
  }
  SampleSplit split;
  split.held_out.assign(samples.begin(), samples.begin() + held_out);
  split.train.assign(samples.begin() + held_out, samples.end());
  return split;
}

SampleDataset::SampleDataset(const Task& task, const RunSettings& settings)
    : vocabulary_(vocabulary_of(task, settings)),
      split_(draw_samples(task, settings)),
      sampler_(std::ssize(split_.train), settings.seed) {}

// All but the last token of "CABBAC=AABBCC".
Index SampleDataset::block_size() const {
  const Sample& sample = split_.held_out.front();
  return static_cast<Index>(sample.question.size() + sample.answer.size());
}

std::string SampleDataset::sizes() const {
  return grouped(std::ssize(split_.train)) + " to train on, " +
         grouped(std::ssize(split_.held_out)) + " held out (disjoint)";
}

Batch SampleDataset::batch_of(const std::vector<const Sample*>& samples) const {
  std::vector<Index> inputs;
  std::vector<Index> targets;
  for (const Sample* sample : samples) {
    const std::vector<Index> tokens =
        vocabulary_.encode(sample->question + kEquals + sample->answer);
    inputs.insert(inputs.end(), tokens.begin(), tokens.end() - 1);
    targets.insert(targets.end(), sample->question.size(), kNoTarget);
    targets.insert(targets.end(), tokens.end() - std::ssize(sample->answer), tokens.end());
  }
  const Shape shape{std::ssize(samples), block_size()};
  return {from_vector(inputs, shape), from_vector(targets, shape)};
}

Batch SampleDataset::next_batch(Index size) {
  std::vector<const Sample*> samples;
  for (Index i = 0; i < size; ++i) {
    samples.push_back(&split_.train[static_cast<std::size_t>(sampler_.next())]);
  }
  return batch_of(samples);
}

Evaluation SampleDataset::evaluate_some(const GPT& model, std::span<const Sample> some) const {
  std::vector<const Sample*> samples;
  for (const Sample& sample : some) samples.push_back(&sample);
  const Batch batch = batch_of(samples);
  const Tensor logits = model(batch.inputs);  // (B, T, V)
  const Tensor loss = cross_entropy(logits.view({-1, vocabulary_.size()}), batch.targets.view({-1}),
                                    {.ignore_index = kNoTarget});
  Evaluation result{.loss = loss.item(),
                    .samples = std::ssize(some),
                    .predictions = predictions_of(samples, argmax(logits, -1), vocabulary_)};
  result.exact = std::count_if(result.predictions.begin(), result.predictions.end(),
                               [](const Prediction& each) { return each.is_right(); });
  return result;
}

// The model is shown the right answer up to each token and asked for the next one. An answer is
// right throughout if and only if the model, left to itself, would write it: until its first
// mistake it reads just that right beginning. (After a mistake the two may differ.)
Evaluation SampleDataset::evaluate(GPT& model, Look look) const {
  const EvalMode eval_mode(model);
  std::span<const Sample> rest = split_.held_out;
  if (look == Look::quick) rest = rest.first(std::min(rest.size(), kQuickSamples));
  Evaluation result;
  while (!rest.empty()) {
    const std::size_t count = std::min(rest.size(), kEvaluateAtOnce);
    const Evaluation some = evaluate_some(model, rest.first(count));
    result.exact += some.exact;
    result.samples += some.samples;
    result.loss += some.loss * static_cast<double>(count);
    result.predictions.insert(result.predictions.end(), some.predictions.begin(),
                              some.predictions.end());
    rest = rest.subspan(count);
  }
  result.loss /= static_cast<double>(result.samples);
  keep_mistakes_first(result.predictions);
  return result;
}

}  // namespace examples
