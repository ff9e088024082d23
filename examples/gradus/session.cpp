#include "examples/gradus/session.h"

#include <utility>

#include "examples/gradus/model.h"
#include "examples/gradus/records/json_lines.h"
#include "examples/gradus/report/report.h"
#include "examples/gradus/watch/watch.h"
#include "examples/support/interrupt.h"
#include "framework/core/error.h"
#include "framework/core/random.h"

namespace examples {
namespace {

gradus::GPT seeded_model(const RunSettings& settings, const Dataset& data) {
  gradus::manual_seed(settings.seed);
  return make_model(settings, data.vocabulary().size(), data.block_size());
}

WatchFacts facts_of(const Session& session) {
  const RunSettings& settings = session.settings();
  return {.title = gradus::text("train ", settings.task, " seed=", settings.seed,
                                " steps=", settings.steps, " batch=", settings.batch,
                                " params=", session.model().parameter_count(),
                                " out=", session.folder().path().string()),
          .total_steps = settings.steps,
          .vocab_size = session.data().vocabulary().size(),
          .evaluate_every = settings.evaluate_every,
          .clip = settings.clip};
}

}  // namespace

Session::Session(const RunSettings& settings, RunFolder folder)
    : settings_(settings),
      folder_(std::move(folder)),
      data_(make_dataset(settings)),
      model_(seeded_model(settings, *data_)) {
  gradus::set_num_threads(settings.threads);
}

Index Session::resume() {
  checkpoint_ = folder_.checkpoints(settings_).latest();
  return checkpoint_->step;
}

SessionResult Session::run(const SessionOptions& options) {
  catch_interrupts();
  if (checkpoint_) {
    folder_.write_settings(settings_);
  } else {
    folder_.start(settings_);
  }
  const bool as_json = options.output == Output::json;
  Trainer trainer(settings_, *data_, model_, folder_);
  if (checkpoint_) trainer.resume_from(*checkpoint_);
  as_json ? json_start(*this) : report_start(*this, options.verbose);

  JsonLines json_lines;
  if (as_json) trainer.add_listener(json_lines);
  std::optional<Watch> watch;
  if (!options.quiet) trainer.add_listener(watch.emplace(facts_of(*this)));

  SessionResult result{.training = trainer.run()};
  if (watch) watch->finish();
  result.was_interrupted = result.training.steps < settings_.steps;
  if (result.was_interrupted) {
    if (as_json) json_interrupt(*this, result.training);
    report_interrupt(*this, result.training);
    return result;
  }
  result.evaluation = data_->evaluate(model_, Look::full);
  as_json ? json_end(*this, result) : report_results(*this, result);
  return result;
}

}  // namespace examples
