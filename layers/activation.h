// Activations as layers, for Sequential; inside other layers the functions themselves do. Each
// takes any shape, and throws DTypeError for a tensor that is not floating.
#pragma once

#include "framework/ops/unary.h"
#include "layers/module.h"

namespace gradus {

/// max(x, 0)
class ReLU : public Layer {
 public:
  Tensor forward(const Tensor& x) const override { return relu(x); }
  std::string description() const override { return "ReLU"; }
};

/// x * P(Z < x) for a standard normal Z; GeluForm::tanh is PyTorch's approximate="tanh", and what
/// GPT-2 used.
class GELU : public Layer {
 public:
  explicit GELU(GeluForm form = GeluForm::exact) : form_(form) {}

  Tensor forward(const Tensor& x) const override { return gelu(x, form_); }
  std::string description() const override {
    return form_ == GeluForm::exact ? "GELU" : "GELU(tanh)";
  }

 private:
  GeluForm form_;
};

/// x * sigmoid(x)
class SiLU : public Layer {
 public:
  Tensor forward(const Tensor& x) const override { return silu(x); }
  std::string description() const override { return "SiLU"; }
};

class Tanh : public Layer {
 public:
  Tensor forward(const Tensor& x) const override { return tanh(x); }
  std::string description() const override { return "Tanh"; }
};

}  // namespace gradus
