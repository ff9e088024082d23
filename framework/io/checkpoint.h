// Checkpoint: all that a training run needs to go on as if it had never stopped, in one safetensors
// file: the model's tensors under "model.", the optimiser's under "optimizer.", and the rest as
// text.
//
//     save_checkpoint(path, {.step = step,
//                            .model = model.state_dict(),
//                            .optimizer = optimizer.state_dict(),
//                            .state = {{"generator", default_generator().state()}}});
//
// What follows from the step (a schedule's rate, say) need not be kept.
#pragma once

#include <filesystem>
#include <optional>

#include "framework/io/safetensors.h"

namespace gradus {

struct Checkpoint {
  Index step = 0;  ///< steps done
  StateDict model{};
  StateDict optimizer{};
  /// Everything else, as text by name: random streams, the place in the data, the configuration.
  Metadata state{};
};

/// Writes a checkpoint in one step (write_file), with how good it is, where that is known. Throws
/// IoError, and ValueError for a step below 0 and as save_safetensors does.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                     std::optional<double> score = std::nullopt);

/// Throws IoError, also for a safetensors file that is no checkpoint.
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// The score that a checkpoint was saved with, from its header alone. Throws IoError.
std::optional<double> score_of_checkpoint(const std::filesystem::path& path);

}  // namespace gradus
