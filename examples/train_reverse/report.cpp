#include "examples/train_reverse/report.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <vector>

#include "examples/support/format.h"
#include "examples/support/heat_map.h"
#include "examples/support/terminal.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

std::vector<std::string> tokens_of(const Sequence& sequence) {
  std::vector<std::string> tokens;
  for (const Index digit : sequence) tokens.push_back(std::to_string(digit));
  return tokens;
}

std::string digits_of(const Sequence& sequence) {
  std::string digits;
  for (const Index digit : sequence) digits += std::to_string(digit);
  return digits;
}

struct Head {
  Index layer = 0;
  Index head = 0;
  double share = -1.0;  // of its weight that is on the anti-diagonal
};

/// The most anti-diagonal head of one layer; mean_weights (heads, length, length).
Head best_head(Index layer, const Tensor& mean_weights) {
  const Index length = mean_weights.size(-1);
  Head best;
  for (Index head = 0; head < mean_weights.size(0); ++head) {
    double sum = 0.0;
    for (Index i = 0; i < length; ++i) sum += mean_weights.at({head, i, length - 1 - i});
    const double share = sum / static_cast<double>(length);
    if (share > best.share) best = {layer, head, share};
  }
  return best;
}

}  // namespace

void report_settings(const Options& options, const Data& data, const ReverseModel& model) {
  const double chance_loss = std::log(static_cast<double>(kDigits));
  std::cout << "task   reverse: " << kDigits << " digits, length " << options.length << "\n"
            << "data   train " << grouped(std::ssize(data.train)) << ", held-out "
            << grouped(std::ssize(data.held_out)) << " (disjoint)\n"
            << "model  layers " << options.layers << ", heads " << options.heads << ", width "
            << options.width << ", " << grouped(model.parameter_count()) << " parameters\n"
            << "run    seed " << options.seed << ", " << model.head.weight.dtype() << ", threads "
            << num_threads() << ", " << instruction_set() << "\n"
            << "loss   of knowing nothing: ln " << kDigits << format(" = %.3f\n\n", chance_loss)
            << std::flush;  // before the progress, which goes another way
}

void report_results(const Training& training, double target, std::size_t exact,
                    std::size_t held_out) {
  const double percent = 100.0 * static_cast<double>(exact) / static_cast<double>(held_out);
  std::cout << "done " << training.steps << format(" steps in %.1f s\n", training.seconds)
            << format("  held-out exact match  %.2f %%", percent) << "  ("
            << grouped(static_cast<Index>(exact)) << " / " << grouped(static_cast<Index>(held_out))
            << ")\n"
            << format("  loss (smoothed)       %.4f\n", training.loss);
  if (training.target_step == 0) return;
  std::cout << "  " << target << " % reached at step  " << training.target_step
            << format(", after %.1f s\n", training.target_seconds);
}

void report_predictions(std::span<const Sequence> sequences,
                        std::span<const Sequence> predictions) {
  constexpr std::size_t kShown = 4;
  std::vector<std::size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return predictions[i] != reversed(sequences[i]); });
  order.resize(std::min(order.size(), kShown));

  const Terminal terminal(STDOUT_FILENO);
  const std::string arrow = terminal.pick(" → ", " -> ");
  const std::string right = "  " + terminal.pick("✓", "ok") + "\n";
  const std::string wrong = "  " + terminal.pick("✗", "WRONG") + "\n";
  std::cout << "\npredictions, mistakes first:\n";
  for (const std::size_t i : order) {
    const std::string start = "  " + digits_of(sequences[i]) + arrow;
    const Sequence wanted = reversed(sequences[i]);
    const bool is_right = predictions[i] == wanted;
    std::cout << start << digits_of(predictions[i]) << (is_right ? right : wrong);
    if (is_right) continue;
    std::cout << format("%*s", columns(start), "want ") << digits_of(wanted) << "\n";
  }
}

void report_attention(const ReverseModel& model, const Data& data) {
  const NoGrad no_grad;
  const std::vector<Tensor> weights = model(stacked(data.probe())).weights;
  Head best;
  for (Index layer = 0; layer < std::ssize(weights); ++layer) {
    const Tensor& of_layer = weights[static_cast<std::size_t>(layer)];
    const Head candidate = best_head(layer, of_layer.mean({0}));
    if (candidate.share > best.share) best = candidate;
  }

  std::cout << "\nattention on a held-out sequence: layer " << best.layer + 1 << ", head "
            << best.head + 1
            << format("\n  most anti-diagonal of all heads (weight there: mean %.2f)\n\n",
                      best.share);
  const std::vector<std::string> tokens = tokens_of(data.held_out.front());
  const Tensor shown = weights[static_cast<std::size_t>(best.layer)][0][best.head];
  std::cout << heat_map(shown, tokens, tokens, Terminal(STDOUT_FILENO));
}

void report_next(const std::string& program) {
  std::cout << "\nnext:\n"
            << "  # one head has to do it all\n  " << program << " --layers 1 --heads 1\n"
            << "  # longer sequences\n  " << program << " --length 24\n"
            << "  # what else there is\n  " << program << " --help\n"
            << std::flush;
}

}  // namespace examples
