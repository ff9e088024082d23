// The model: a small transformer encoder that reads all digits at once and says, at position i,
// what digit i of the reversed sequence is. For that it must look at position length-1-i.
#pragma once

#include <gradus/gradus.h>

#include <vector>

#include "examples/train_reverse/task.h"

namespace examples {

struct ReverseModelOptions {
  gradus::Index length;
  gradus::Index layers;
  gradus::Index heads;
  gradus::Index width;
};

class ReverseModel : public gradus::Module {
 public:
  explicit ReverseModel(const ReverseModelOptions& options);

  gradus::Embedding token;
  gradus::LearnedPositions position;
  std::vector<gradus::TransformerEncoderLayer> layers;
  gradus::LayerNorm norm;
  gradus::Linear head;

  struct Result {
    gradus::Tensor logits;                ///< (B, length, 10)
    std::vector<gradus::Tensor> weights;  ///< of each layer: (B, heads, length, length)
  };

  /// digits (B, length), int64.
  Result operator()(const gradus::Tensor& digits) const;
  void visit(gradus::Visitor& v) override {
    v("token", token);
    v("position", position);
    v("layers", layers);
    v("norm", norm);
    v("head", head);
  }
  std::string description() const override { return "ReverseModel"; }
};

}  // namespace examples
