#include "examples/gradus/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "examples/gradus/training/gradient_groups.h"
#include "examples/gradus/training/kept_bytes.h"
#include "examples/gradus/training/post_mortem.h"
#include "examples/support/exit_code.h"
#include "examples/support/interrupt.h"
#include "examples/support/number.h"
#include "framework/core/error.h"
#include "framework/io/file.h"
#include "framework/ops/loss.h"
#include "framework/optim/clip.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kGroupsEvery = 10;  // steps

/// Up in a straight line, then down a half cosine to min_lr at the end.
Schedule rate_of(const RunSettings& settings) {
  const double floor = settings.lr > 0 ? settings.min_lr / settings.lr : 1.0;
  const Index rest = std::max<Index>(settings.steps - settings.warmup, 1);
  return schedule::then(schedule::linear_warmup(settings.warmup), settings.warmup,
                        schedule::cosine(rest, floor));
}

AdamOptions adam_options(const RunSettings& settings) {
  return {.lr = settings.lr,
          .beta1 = settings.beta1,
          .beta2 = settings.beta2,
          .weight_decay = settings.weight_decay};
}

double score_of(const Evaluation& evaluation) {
  return evaluation.has_exact() ? evaluation.exact_share() : evaluation.loss;
}

const std::string& state_of(const Checkpoint& checkpoint, const char* name) {
  const auto found = checkpoint.state.find(name);
  if (found != checkpoint.state.end()) return found->second;
  throw IoError(text("resume: the checkpoint of step ", checkpoint.step, " has no ", name));
}

template <class Number>
Number number_of(const Checkpoint& checkpoint, const char* name) {
  const auto number =
      read_number<Number>(state_of(checkpoint, name), 0, std::numeric_limits<Number>::max());
  if (number) return *number;
  throw IoError(
      text("resume: ", name, " of the checkpoint of step ", checkpoint.step, " is no number"));
}

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Trainer::Trainer(const RunSettings& settings, Dataset& data, GPT& model, const RunFolder& folder)
    : settings_(settings),
      data_(data),
      model_(model),
      folder_(folder),
      checkpoints_(folder.checkpoints(settings)),
      optimizer_(decay_groups(model.parameters()), adam_options(settings)),
      rate_(rate_of(settings)) {}

Tensor Trainer::loss_of(const Batch& batch) const {
  const Tensor logits = model_(batch.inputs);
  return cross_entropy(logits.view({-1, logits.size(-1)}), batch.targets.view({-1}),
                       {.ignore_index = kNoTarget});
}

TrainingResult Trainer::run() {
  const Clock clock;
  metrics_ = std::make_unique<MetricsFile>(folder_.metrics(), metrics_before_);
  if (result_.steps == 0) save();  // so that even a first step can be resumed
  while (result_.steps < settings_.steps && !interrupted()) {
    Step step = take_step();
    const bool is_last = step.number == settings_.steps;
    const bool saves = is_last || step.number % settings_.checkpoint_every == 0;
    if (saves || step.number % settings_.evaluate_every == 0) look_at_held_out(step);
    step.seconds = result_.seconds = seconds_before_ + clock.seconds();
    metrics_->on_step(step);
    for (StepListener* listener : listeners_) listener->on_step(step);
    if (saves) save(score_of(*step.evaluation));
  }
  if (result_.steps < settings_.steps) save();
  return result_;
}

Step Trainer::take_step() {
  const Generator before = *LockedGenerator();
  const Batch batch = data_.next_batch(settings_.batch);
  Step step{.number = result_.steps + 1,
            .lr = settings_.lr * rate_(result_.steps),
            .tokens = batch.inputs.numel()};

  optimizer_.zero_grad();
  const Tensor loss = loss_of(batch);
  step.loss = loss.item();
  if (!std::isfinite(step.loss)) fail(text("the loss is ", step.loss), batch, before);
  if (result_.steps == steps_before_) step.kept_bytes = kept_for_backward(loss, model_);
  loss.backward();

  if (step.number % kGroupsEvery == 0) step.groups = gradient_groups(model_);
  const double limit =
      settings_.clip > 0 ? settings_.clip : std::numeric_limits<double>::infinity();
  step.gradient_norm = clip_grad_norm_(model_.parameters(), limit);
  step.clipped = step.gradient_norm > limit;
  if (!std::isfinite(step.gradient_norm)) {
    fail(text("the gradient's norm is ", step.gradient_norm), batch, before);
  }
  optimizer_.set_lr(step.lr);
  optimizer_.step();

  loss_.add(step.loss);
  result_.smoothed_loss = loss_.value();
  result_.steps = step.number;
  return step;
}

void Trainer::look_at_held_out(Step& step) {
  step.evaluation = data_.evaluate(model_, Look::quick);
  const bool learnt = step.evaluation->has_exact() && step.evaluation->exact_share() >= kLearnt;
  if (learnt && result_.learnt_step == 0) result_.learnt_step = step.number;
}

std::filesystem::path Trainer::save(std::optional<double> score) const {
  folder_.save_model(model_, settings_, data_.vocabulary());
  return checkpoints_.save({.step = result_.steps,
                            .model = model_.state_dict(),
                            .optimizer = optimizer_.state_dict(),
                            .state = {{"generator", LockedGenerator()->state()},
                                      {"data", data_.state()},
                                      {"metrics_bytes", text(metrics_->position())},
                                      {"milliseconds", text(std::llround(1e3 * result_.seconds))},
                                      {"learnt_step", text(result_.learnt_step)}}},
                           score);
}

void Trainer::resume_from(const Checkpoint& checkpoint) {
  try {
    model_.load_state_dict(checkpoint.model);
    optimizer_.load_state_dict(checkpoint.optimizer);
    LockedGenerator()->set_state(state_of(checkpoint, "generator"));
    data_.set_state(state_of(checkpoint, "data"));
  } catch (const ValueError& error) {
    throw IoError(text("resume: the checkpoint of step ", checkpoint.step, " is of another run\n",
                       error.what()));
  }
  metrics_before_ = number_of<std::uintmax_t>(checkpoint, "metrics_bytes");
  seconds_before_ = 1e-3 * static_cast<double>(number_of<Index>(checkpoint, "milliseconds"));
  result_.seconds = seconds_before_;
  result_.learnt_step = number_of<Index>(checkpoint, "learnt_step");
  result_.steps = steps_before_ = checkpoint.step;
  const RecordedMetrics before = metrics_until(metrics_before_);
  for (const Point& point : before.of("loss")) loss_.add(point.y);
}

RecordedMetrics Trainer::metrics_until(std::uintmax_t bytes) const {
  try {
    return parse_metrics(read_file(folder_.metrics(), bytes), folder_.metrics().string());
  } catch (const IoError&) {  // it is possible to go on without them
    return {};
  }
}

void Trainer::fail(const std::string& what, const Batch& batch, const Generator& before) {
  const FailedStep step{result_.steps + 1, what, model_, batch, before};
  const std::string fault = first_fault(step, [&] { loss_of(batch).backward(); });
  save_post_mortem(step, fault, folder_);
  std::string message =
      text("train: ", what, " at step ", step.number, "\n  first  ", fault, "\n  saved  ",
           folder_.post_mortem().string(), ": the model before the step, and its batch");
  if (!checkpoints_.empty()) {
    message += text("\n  kept   the checkpoints in ", (folder_.path() / "checkpoints").string());
  }
  throw Failure(kNotANumber, message + text("\n  hint   a smaller --lr than ", settings_.lr,
                                            ", a longer --warmup"));
}

}  // namespace examples
