#include "examples/gradus/training/post_mortem.h"

#include <cmath>

#include "framework/autograd/trace.h"
#include "framework/core/error.h"
#include "framework/io/safetensors.h"

namespace examples {
namespace {

bool is_finite(const gradus::Tensor& tensor) {
  for (const double number : tensor.to_vector<double>()) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

}  // namespace

std::string first_fault(const FailedStep& step, const std::function<void()>& replay) {
  for (const auto& [name, parameter] : step.model.named_parameters()) {
    if (!is_finite(parameter)) return "parameter " + name + " is not finite";
  }
  *gradus::LockedGenerator() = step.generator;
  try {
    const gradus::NanTrace trace;
    replay();
  } catch (const gradus::AutogradError& fault) {
    return fault.what();
  }
  return "no op: all results and gradients are finite, their sum is not";
}

void save_post_mortem(const FailedStep& step, const std::string& fault, const RunFolder& folder) {
  gradus::StateDict tensors = gradus::state_as("model", step.model.state_dict());
  tensors.emplace("batch.inputs", step.batch.inputs);
  tensors.emplace("batch.targets", step.batch.targets);
  gradus::save_safetensors(folder.post_mortem(), tensors,
                           {{"step", std::to_string(step.number)},
                            {"what", step.what},
                            {"fault", fault},
                            {"generator", step.generator.state()}});
}

}  // namespace examples
