// Trains a small transformer to reverse sequences of digits, and shows what it learnt: position i
// has to look at position length-1-i, so the attention weights of a trained head form an
// anti-diagonal.
//
//     task      the sequences, and which of them are held out
//     model     embedding, positions, encoder layers, head
//     training  the loop
//     report    predictions, and attention as a heat map
#include <gradus/gradus.h>

#include <iostream>
#include <vector>

#include "examples/support/exit_code.h"
#include "examples/support/format.h"
#include "examples/support/interrupt.h"
#include "examples/train_reverse/model.h"
#include "examples/train_reverse/options.h"
#include "examples/train_reverse/report.h"
#include "examples/train_reverse/task.h"
#include "examples/train_reverse/training.h"

namespace examples {
namespace {

void require_target(double target, std::size_t exact, std::size_t held_out) {
  const double percent = 100.0 * static_cast<double>(exact) / static_cast<double>(held_out);
  if (percent >= target) return;
  throw Failure(
      kCriterionMissed,
      format("held-out exact match is %.2f %%, below the target of %g %%", percent, target));
}

ExitCode train_reverse(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) return kWell;
  gradus::set_num_threads(options->threads);
  catch_interrupts();

  gradus::manual_seed(options->seed);  // for the model
  const ReverseModel model({.length = options->length,
                            .layers = options->layers,
                            .heads = options->heads,
                            .width = options->width});
  gradus::Generator generator(options->seed);  // for the data
  const Data data = draw_data(options->length, generator);
  report_settings(*options, data, model);

  const Training training = train(model, data, *options, generator);
  const bool cut_short = training.steps < options->steps;
  if (cut_short) {
    std::cerr << "interrupted after step " << training.steps << "; again ends at once\n";
  }

  const std::vector<Sequence> predictions = predict(model, data.held_out);
  const std::size_t exact = count_exact(data.held_out, predictions);
  report_results(training, options->target, exact, data.held_out.size());
  report_predictions(data.held_out, predictions);
  report_attention(model, data);
  report_next(argv[0]);

  if (cut_short) return kInterrupted;
  if (!options->no_target) require_target(options->target, exact, data.held_out.size());
  return kWell;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  return examples::run([&] { return examples::train_reverse(argc, argv); });
}
