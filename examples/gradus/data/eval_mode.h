// EvalMode: dropout off and nothing recorded, for the length of a scope.
#pragma once

#include "framework/autograd/no_grad.h"
#include "layers/module.h"

namespace examples {

class [[nodiscard]] EvalMode {
 public:
  explicit EvalMode(gradus::Module& model) : model_(model), was_training_(model.is_training()) {
    model_.eval();
  }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;
  ~EvalMode() { model_.train(was_training_); }

 private:
  gradus::NoGrad no_grad_;
  gradus::Module& model_;
  bool was_training_;
};

}  // namespace examples
