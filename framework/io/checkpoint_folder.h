// CheckpointFolder: the checkpoints of one run, as files step_000812.safetensors in its folder. It
// keeps the last few and the best, and finds them again.
//
// A checkpoint is there whole or not at all, whenever the program is killed. One program at a time
// writes to a folder; any number may read.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "framework/io/checkpoint.h"

namespace gradus {

struct CheckpointFolderOptions {
  Index keep_last = 2;
  /// Of those with a score; the earlier one of two that are as good.
  Index keep_best = 1;
  /// For a score such as a loss.
  bool smaller_is_better = false;
};

struct SavedCheckpoint {
  std::filesystem::path path;
  Index step = 0;
  /// What it was saved with; NaN, as of a run that has failed, counts as none.
  std::optional<double> score{};
};

class CheckpointFolder {
 public:
  /// The folder need not be there before the first save. Throws ValueError for options below 0 and
  /// a keep_last of 0.
  explicit CheckpointFolder(std::filesystem::path folder,
                            const CheckpointFolderOptions& options = {});

  /// Writes a checkpoint and then removes those that are kept no longer, never this one, and what
  /// killed programs have left. One of the same step is replaced. Throws IoError.
  std::filesystem::path save(const Checkpoint& checkpoint,
                             std::optional<double> score = std::nullopt) const;

  /// Whether there is nothing to go on from.
  bool empty() const;
  /// All whole checkpoints, by rising step. Throws IoError for a folder that cannot be read.
  std::vector<SavedCheckpoint> list() const;

  /// The one of the highest step. Throws IoError where there is none and, with the newest whole one
  /// as a hint, where it is damaged.
  Checkpoint latest() const;
  /// The one of the best score. Throws IoError where none has a score.
  Checkpoint best() const;

 private:
  std::vector<SavedCheckpoint> best_first(const std::vector<SavedCheckpoint>& saved) const;
  void prune(const std::filesystem::path& newest) const;

  std::filesystem::path folder_;
  CheckpointFolderOptions options_;
};

}  // namespace gradus
