#include "layers/embedding.h"

#include "framework/core/error.h"
#include "framework/ops/random.h"

namespace gradus {

Embedding::Embedding(const EmbeddingOptions& options) : padding_idx_(options.padding_idx) {
  const auto [rows, width, padding_idx] = options;
  if (rows < 1 || width < 1) {
    throw ValueError(
        text("Embedding: needs at least one row and one column, not ", rows, " and ", width));
  }
  if (padding_idx != kNoPadding && (padding_idx < 0 || padding_idx >= rows)) {
    throw ValueError(text("Embedding: padding_idx ", padding_idx, " is outside 0..", rows - 1));
  }
  weight = randn({rows, width});
  if (padding_idx != kNoPadding) weight.select(0, padding_idx).zero_();
  weight.requires_grad_();
}

Tensor Embedding::forward(const Tensor& indices) const {
  return embedding(indices, weight, padding_idx_);
}

std::string Embedding::description() const {
  return text("Embedding(", weight.size(0), ", ", weight.size(1), ")");
}

}  // namespace gradus
