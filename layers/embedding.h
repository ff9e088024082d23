// Embedding: a table of vectors, one per symbol.
#pragma once

#include "framework/ops/indexing.h"
#include "layers/module.h"

namespace gradus {

struct EmbeddingOptions {
  Index num_embeddings;
  Index embedding_dim;
  /// A row that starts as zeros and gets no gradient.
  Index padding_idx = kNoPadding;
};

/// int64 indices (...) to rows (..., embedding_dim). Starts from a standard normal, as
/// torch.nn.Embedding does. Throws ValueError for an index outside the table.
class Embedding : public Layer {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Embedding(Index num_embeddings, Index embedding_dim)
      : Embedding(EmbeddingOptions{num_embeddings, embedding_dim}) {}

  Tensor weight;  ///< (num_embeddings, embedding_dim)

  Tensor forward(const Tensor& indices) const override;
  void visit(Visitor& v) override { v("weight", weight); }
  std::string description() const override;

 private:
  Index padding_idx_;
};

}  // namespace gradus
