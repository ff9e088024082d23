// Post-mortem: what is done about a step whose loss or gradient is not a number.
#pragma once

#include <functional>
#include <string>

#include "examples/gradus/data/dataset.h"
#include "examples/gradus/records/run_folder.h"
#include "framework/core/random.h"

namespace examples {

struct FailedStep {
  Index number;
  std::string what;  ///< "the loss is nan"
  const gradus::GPT& model;
  const Batch& batch;
  /// The default generator as it was before the step.
  const gradus::Generator& generator;
};

/// Takes the step again inside a NanTrace, with the same dropout: which op made the first number
/// that is none. `replay` is forward and backward.
std::string first_fault(const FailedStep& step, const std::function<void()>& replay);

/// Saves the model, which the step has not changed, the batch, and `fault`. Throws IoError.
void save_post_mortem(const FailedStep& step, const std::string& fault, const RunFolder& folder);

}  // namespace examples
