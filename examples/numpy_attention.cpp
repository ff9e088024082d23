// Multi-head attention as a NumPy program writes it: weights of its own, no bias, float64.
//
// random::Numpy(42) draws what NumPy draws after numpy.random.seed(42), digit for digit, so output
// and weights are those of the NumPy program but for the rounding of sums.
#include <gradus/gradus.h>

#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kBatch = 1;
constexpr Index kLength = 4;
constexpr Index kWidth = 8;
constexpr Index kHeads = 2;

/// NumPy's y = x @ W has W (in, out); a Linear keeps its weight as (out, in).
Tensor draw_weight(random::Numpy& numpy) {
  return (numpy.randn({kWidth, kWidth}) * 0.1).transpose(0, 1);
}

void show() {
  random::Numpy numpy(42);
  const Tensor query = numpy.randn({kBatch, kLength, kWidth});
  const Tensor key = numpy.randn({kBatch, kLength, kWidth});
  const Tensor value = numpy.randn({kBatch, kLength, kWidth});

  MultiHeadAttention attention({.d_model = kWidth, .n_heads = kHeads, .bias = false});
  attention.to(float64);
  attention.load_state_dict({{"q_linear.weight", draw_weight(numpy)},  // drawn in this order
                             {"k_linear.weight", draw_weight(numpy)},
                             {"v_linear.weight", draw_weight(numpy)},
                             {"out_linear.weight", draw_weight(numpy)}});

  const auto [output, weights] = attention(query, key, value);
  std::cout << "output: " << output.shape() << "\n"
            << "attention weights: " << weights.shape() << "\n";
  examples::require(output.shape() == Shape{1, 4, 8}, "the output has shape (1, 4, 8)");
  examples::require(weights.shape() == Shape{1, 2, 4, 4}, "the weights have shape (1, 2, 4, 4)");

  const Tensor row_sums = weights.sum({-1});
  const bool sum_to_one = allclose(row_sums, ones_like(row_sums));
  std::cout << "every row of weights sums to 1: " << (sum_to_one ? "True" : "False") << "\n";
  examples::require(sum_to_one, "every row of weights sums to 1");
}

}  // namespace

int main() { return examples::run(show); }
