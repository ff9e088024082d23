// Single-head attention, a layer of float32, against its formula, written out in float64:
//
//     softmax(Q K^T / sqrt(d_model)) V,   Q = query W_q^T,  K = key W_k^T,  V = value W_v^T
//
// The seed is 42: PyTorch draws the same numbers after torch.manual_seed(42).
#include <gradus/gradus.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kBatch = 2;
constexpr Index kLength = 4;
constexpr Index kWidth = 8;

/// x weight^T, in float64.
Tensor project(const Tensor& x, const Linear& layer) {
  return x.to(float64).matmul(layer.weight.to(float64).transpose(0, 1));
}

double largest_size(const Tensor& x) { return std::max(x.max().item(), (-x).max().item()); }

void show() {
  manual_seed(42);
  const SingleHeadAttention attention({.d_model = kWidth});
  const Tensor query = randn({kBatch, kLength, kWidth});
  const Tensor key = randn({kBatch, kLength, kWidth});
  const Tensor value = randn({kBatch, kLength, kWidth});

  const Tensor output = attention(query, key, value).output;
  std::cout << "output: " << output.shape() << "\n";
  examples::require(output.shape() == Shape{kBatch, kLength, kWidth},
                    "the output has the shape of the query");

  const NoGrad no_grad;
  const Tensor q = project(query, attention.W_q);
  const Tensor k = project(key, attention.W_k);
  const Tensor v = project(value, attention.W_v);
  const Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(kWidth));
  const Tensor weights = scores.softmax(-1);

  const double error = largest_size(output.to(float64) - weights.matmul(v));
  std::printf("largest error: %.2e\n", error);
  examples::require(error < 1e-6, "the largest error against the formula is below 1e-6");

  const Tensor row_sums = weights.sum({-1});
  const std::vector<double> sums = row_sums.to_vector<double>();
  const auto [smallest, largest] = std::minmax_element(sums.begin(), sums.end());
  std::printf("row sums of the attention weights: [%.6f, %.6f]\n", *smallest, *largest);
  examples::require(allclose(row_sums, ones_like(row_sums), 0.0, 1e-5),
                    "every row of weights sums to 1");
}

}  // namespace

int main() { return examples::run(show); }
