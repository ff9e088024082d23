// Self-attention: one sequence is query, key and value at once. Shows that padding, once hidden by
// a mask, has no influence on the rest of its sequence.
#include <gradus/gradus.h>

#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kBatch = 2;
constexpr Index kLength = 4;
constexpr Index kWidth = 8;
constexpr Index kHeads = 2;

void require_rows_sum_to_one(const Tensor& weights) {
  const Tensor row_sums = weights.sum({-1});
  examples::require(allclose(row_sums, ones_like(row_sums)), "every row of weights sums to 1");
}

void show() {
  manual_seed(42);
  const MultiHeadAttention attention({.d_model = kWidth, .n_heads = kHeads});
  const NoGrad no_grad;
  const Tensor x = randn({kBatch, kLength, kWidth});

  const auto [output, weights] = attention(x, x, x);
  std::cout << "output: " << output.shape() << "\n"
            << "attention weights: " << weights.shape() << "\n"
            << "row sums of the first sequence, by head and query:\n"
            << weights[0].sum({-1}) << "\n";
  examples::require(output.shape() == x.shape(), "the output has the shape of x");
  examples::require(weights.shape() == Shape{kBatch, kHeads, kLength, kLength},
                    "the weights are (batch, heads, length, length)");
  require_rows_sum_to_one(weights);

  // Of the second sequence only the first two positions are real: the mask keeps where it is 1.
  const Tensor keep = tensor({{1, 1, 1, 1}, {1, 1, 0, 0}}).view({kBatch, 1, 1, kLength});
  const AttentionMask mask = AttentionMask::keep_where(keep).with_fill(-1e9);
  const auto [masked_output, masked_weights] = attention(x, x, x, mask);
  std::cout << "\nweights of the second sequence, whose last two positions are padding:\n"
            << masked_weights[1] << "\n";
  require_rows_sum_to_one(masked_weights);
  examples::require(all(eq(masked_weights[1].slice(-1, 2), 0.0)), "padding gets weight 0");

  const Tensor noise = randn({kBatch, kLength, kWidth}) * (1.0 - keep.view({kBatch, kLength, 1}));
  const Tensor noisy = x + noise;  // changes the padding and nothing else
  const Tensor noisy_output = attention(noisy, noisy, noisy, mask).output;
  const auto real_part = [](const Tensor& all_outputs) { return all_outputs[1].slice(0, 0, 2); };
  const bool unmoved = allclose(real_part(noisy_output), real_part(masked_output));
  std::cout << "other numbers in the padding change the outputs before it: "
            << (unmoved ? "False" : "True") << "\n";
  examples::require(unmoved, "padding has no influence on the outputs before it");

  // A fill of -1e9 makes keys unlikely, -inf (the default) takes them out. It shows where nothing
  // is left to attend to.
  const AttentionMask nothing =
      AttentionMask::keep_where(zeros({1, kLength}).expand({kLength, -1}));
  const Tensor uniform = attention(x, x, x, nothing.with_fill(-1e9)).weights[0][0][0];
  const Tensor none = attention(x, x, x, nothing).weights[0][0][0];
  std::cout << "\nweights of a query that may attend to nothing:\n"
            << "  filled with -1e9  " << uniform << "\n"
            << "  filled with -inf  " << none << "\n";
  examples::require(allclose(uniform, full({kLength}, 0.25)), "-1e9 gives uniform weights");
  examples::require(all(eq(none, 0.0)), "-inf gives zero weights");
}

}  // namespace

int main() { return examples::run(show); }
