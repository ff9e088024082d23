#include "examples/gradus/report/attention_report.h"

#include <unistd.h>

#include <iostream>

#include "examples/gradus/data/eval_mode.h"
#include "examples/gradus/data/sample_dataset.h"
#include "examples/support/format.h"
#include "examples/support/heat_map.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr std::size_t kProbes = 100;

struct Head {
  Index layer = 0;
  Index head = 0;
  double share = -1.0;  // of its weight that is on the anti-diagonal
};

/// Of the whole weights (..., T, T), those from the answer's positions to the question's. The last
/// token of the answer is never read, so both are as many.
Tensor answer_to_question(const Tensor& weights, Index length) {
  return weights.slice(-2, length, 2 * length).slice(-1, 0, length);
}

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

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> each;
  for (const char c : text) each.emplace_back(1, c);
  return each;
}

}  // namespace

void report_mirrored_attention(Session& session) {
  const EvalMode eval_mode(session.model());
  const SampleDataset data(*find_task(session.settings().task), session.settings());
  std::vector<const Sample*> probes;
  for (const Sample& sample : data.held_out()) {
    if (probes.size() < kProbes) probes.push_back(&sample);
  }
  const Index length = session.settings().length;
  const std::vector<Tensor> weights =
      session.model().with_weights(data.batch_of(probes).inputs).weights;
  Head best;
  for (Index layer = 0; layer < std::ssize(weights); ++layer) {
    const Tensor& of_layer = weights[static_cast<std::size_t>(layer)];
    const Head found = best_head(layer, answer_to_question(of_layer.mean({0}), length));
    if (found.share > best.share) best = found;
  }

  const Sample& sample = data.held_out().front();
  std::cout << "\nattention on a held-out question: layer " << best.layer + 1 << ", head "
            << best.head + 1
            << format("\n  most anti-diagonal of all heads (weight there: mean %.2f)", best.share)
            << "\n  a row reads one character and says the next of " << sample.answer << "\n\n";
  const Tensor shown =
      answer_to_question(weights[static_cast<std::size_t>(best.layer)][0][best.head], length);
  const std::string read = kEquals + sample.answer.substr(0, sample.answer.size() - 1);
  std::cout << heat_map(shown, characters(read), characters(sample.question),
                        Terminal(STDOUT_FILENO));
}

}  // namespace examples
