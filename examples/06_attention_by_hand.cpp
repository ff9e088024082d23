// Lesson 6: multi-head attention, written out in ops, and held against the layer: the same output,
// the same weights, the same gradients.
//
//     softmax(Q K^T / sqrt(d_head)) V        (Vaswani et al., 2017, equation 1)
//
//     before: 05_linear_regression    next: 07_save_and_load
#include <gradus/gradus.h>

#include <cmath>
#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kBatch = 2;
constexpr Index kLength = 5;
constexpr Index kWidth = 8;
constexpr Index kHeads = 2;
constexpr Index kHeadWidth = kWidth / kHeads;

/// y = x W^T + b
Tensor affine(const Tensor& x, const Linear& layer) {
  return matmul(x, layer.weight.transpose(0, 1)) + layer.bias;
}

/// (B, length, width) to (B, heads, length, head width): each head gets a share of the features.
Tensor split_heads(const Tensor& x) {
  return x.view({kBatch, kLength, kHeads, kHeadWidth}).transpose(1, 2);
}

/// And back. The heads' numbers no longer lie side by side, so reshape must copy.
Tensor merge_heads(const Tensor& x) { return x.transpose(1, 2).reshape({kBatch, kLength, kWidth}); }

/// Attention of x to itself with the parameters of `layer`, every position seeing those up to it.
AttentionOutput by_hand(const Tensor& x, const MultiHeadAttention& layer) {
  const Tensor query = split_heads(affine(x, layer.q_linear));  // what am I looking for?
  const Tensor key = split_heads(affine(x, layer.k_linear));    // what have I to offer?
  const Tensor value = split_heads(affine(x, layer.v_linear));  // what do I hand on?

  // How well does each query fit each key? (B, heads, length, length)
  const double scale = std::sqrt(static_cast<double>(kHeadWidth));
  const Tensor scores = matmul(query, key.transpose(-2, -1)) / scale;

  // Nobody may look ahead: what lies above the diagonal becomes -inf, and its weight exactly 0.
  const Tensor ahead = gt(triu(ones({kLength, kLength}), 1), 0.0);
  const Tensor weights = softmax(masked_fill(scores, ahead, -INFINITY), -1);

  // Each position takes a weighted mean of the values.
  const Tensor context = matmul(weights, value);  // (B, heads, length, head width)
  return {affine(merge_heads(context), layer.out_linear), weights};
}

/// What gradient x gets from a loss that weighs every output differently.
Tensor gradient_of(const Tensor& output, const Tensor& x, const Tensor& importance) {
  return gradients({(output * importance).sum()}, {x})[0];
}

void show() {
  manual_seed(1);
  const MultiHeadAttention layer({.d_model = kWidth, .n_heads = kHeads});
  const Tensor x = randn({kBatch, kLength, kWidth}).requires_grad_();
  const Tensor importance = randn({kBatch, kLength, kWidth});

  const auto [output, weights] = by_hand(x, layer);
  const auto [wanted, wanted_weights] = layer(x, x, x, AttentionMask::causal(kLength, kLength));

  std::cout << "attention weights of head 0: row i is where position i looks\n"
            << weights[0][0].detach() << "\n";
  examples::require(allclose(weights, wanted_weights, 1e-5, 1e-6), "weights as the layer's");
  examples::require(allclose(output, wanted, 1e-5, 1e-6), "output as the layer's");

  const Tensor gradient = gradient_of(output, x, importance);
  examples::require(allclose(gradient, gradient_of(wanted, x, importance), 1e-5, 1e-6),
                    "gradient of x as the layer's");
  std::cout << "\noutput, weights and gradients agree with MultiHeadAttention\n";

  // Position 0 can see itself alone: its output does not change with the others.
  const Tensor first = gradients({by_hand(x, layer).output[0][0].sum()}, {x})[0];
  examples::require(all(eq(first[0].slice(0, 1), 0.0)), "position 0 depends on itself alone");
  std::cout << "the output at position 0 has no gradient beyond position 0:\n" << first[0] << "\n";
}

}  // namespace

int main() { return examples::run(show); }
