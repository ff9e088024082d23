// Multi-head attention on random numbers: what shapes go in and come out, and what a causal mask
// does to the attention weights.
//
// The seed is 0: PyTorch prints the same weights after torch.manual_seed(0).
#include <gradus/gradus.h>

#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kBatch = 2;
constexpr Index kLength = 4;
constexpr Index kWidth = 8;
constexpr Index kHeads = 2;

/// Whether no query attends to a key behind it: every weight above the diagonal is exactly 0.
bool is_causal(const Tensor& weights) {
  for (Index query = 0; query < kLength; ++query) {
    const Tensor later = weights.select(-2, query).slice(-1, query + 1);
    if (any(ne(later, 0.0))) return false;
  }
  return true;
}

void show() {
  manual_seed(0);
  const MultiHeadAttention attention({.d_model = kWidth, .n_heads = kHeads, .dropout = 0.1});
  const Tensor query = randn({kBatch, kLength, kWidth});
  const Tensor key = randn({kBatch, kLength, kWidth});
  const Tensor value = randn({kBatch, kLength, kWidth});

  const auto [output, weights] = attention(query, key, value);
  std::cout << "output without a mask: " << output.shape() << "\n"
            << "attention weights: " << weights.shape() << "\n";
  examples::require(output.shape() == Shape{2, 4, 8}, "the output has shape (2, 4, 8)");
  examples::require(weights.shape() == Shape{2, 2, 4, 4}, "the weights have shape (2, 2, 4, 4)");

  const AttentionMask mask = AttentionMask::causal(kLength, kLength);
  const auto [masked_output, masked_weights] = attention(query, key, value, mask);
  std::cout << "output with a mask: " << masked_output.shape() << "\n"
            << "attention weights with a mask, first sequence, first head:\n"
            << masked_weights[0][0] << "\n";
  examples::require(masked_output.shape() == Shape{2, 4, 8}, "the masked output is (2, 4, 8)");
  examples::require(is_causal(masked_weights), "all masked weights above the diagonal are 0");
}

}  // namespace

int main() { return examples::run(show); }
