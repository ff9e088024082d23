#include "examples/gradus/training/kept_bytes.h"

#include <set>

#include "framework/autograd/tape.h"

namespace examples {

double kept_for_backward(const gradus::Tensor& loss, const gradus::Module& model) {
  std::set<const gradus::Storage*> seen;
  for (const gradus::Tensor& parameter : model.parameters()) {
    seen.insert(parameter.impl().storage.get());
  }
  double bytes = 0.0;
  const auto add = [&](const gradus::Tensor& saved) {
    if (!saved.defined() || !seen.insert(saved.impl().storage.get()).second) return;
    bytes += static_cast<double>(saved.numel() * saved.itemsize());
  };
  for (const auto& step : gradus::Tape(loss)) {
    for (const auto& input : step->inputs()) add(input.saved.value);
    add(step->saved_output().value);
  }
  return bytes;
}

}  // namespace examples
