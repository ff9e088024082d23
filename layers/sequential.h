// Sequential: layers one after another.
//
//     Sequential net{Linear(2, 16), GELU(), Linear(16, 1)};
//
// In braces the layers are made from first to last, and so draw the same parameters by every
// compiler; in parentheses C++ leaves the order open.
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "layers/module.h"

namespace gradus {

/// Each layer's output is the next one's input; no layers are the identity. Its children are named
/// 0, 1, 2 ..., as PyTorch's.
class Sequential : public Layer {
 public:
  /// The layers are moved in.
  template <std::derived_from<Layer>... Layers>
  explicit Sequential(Layers&&... layers) {
    (append(std::move(layers)), ...);
  }

  /// Moves one more layer in, at the end.
  template <std::derived_from<Layer> L>
  Sequential& append(L layer) {
    layers_.push_back(std::make_unique<L>(std::move(layer)));
    return *this;
  }

  Index size() const { return static_cast<Index>(layers_.size()); }
  /// Throws ValueError for an index outside 0..size() - 1.
  const Layer& operator[](Index index) const;
  Layer& operator[](Index index) {
    return const_cast<Layer&>(static_cast<const Sequential&>(*this)[index]);
  }

  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override {
    for (std::size_t i = 0; i < layers_.size(); ++i) v(std::to_string(i), layers_[i]);
  }
  std::string description() const override { return "Sequential"; }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace gradus
