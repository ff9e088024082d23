// Attention composed of PyTorch's ops, as its users write it.
#pragma once

#include <cmath>
#include <limits>

#include <torch/types.h>

namespace peer {

/// True where a query stands before the key.
inline torch::Tensor causal_mask(std::int64_t length) {
  return torch::ones({length, length}, torch::kBool).triu(1);
}

/// (B, length, width) to (B, heads, length, width / heads).
inline torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

inline torch::Tensor merge_heads(const torch::Tensor& x) {
  return x.transpose(1, 2).contiguous().view({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// Of queries, keys and values (B, heads, length, head width).
inline torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& hidden, double dropout) {
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  const torch::Tensor scores = torch::matmul(q, k.transpose(-2, -1)) / scale;
  const torch::Tensor weights =
      torch::softmax(scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()), -1);
  return torch::matmul(torch::dropout(weights, dropout, /*train=*/true), v);
}

}  // namespace peer
