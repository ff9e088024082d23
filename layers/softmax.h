// Softmax as a layer.
#pragma once

#include "framework/ops/softmax.h"
#include "layers/module.h"

namespace gradus {

struct SoftmaxOptions {
  Index axis = -1;
  WhenAllHidden when_all_hidden = WhenAllHidden::nan;
};

class Softmax : public Layer {
 public:
  explicit Softmax(const SoftmaxOptions& options = {}) : options_(options) {}

  Tensor forward(const Tensor& x) const override {
    return softmax(x, options_.axis, options_.when_all_hidden);
  }
  std::string description() const override;

 private:
  SoftmaxOptions options_;
};

}  // namespace gradus
