// RunFolder: where a run keeps what it makes.
//
//     run/sort-7/config.toml         its settings
//     run/sort-7/metrics.jsonl       a line for every step
//     run/sort-7/checkpoints/        all that is needed to go on: the latest two, and the best
//     run/sort-7/model.safetensors   the model of the last checkpoint, with settings and vocabulary
//     run/sort-7/post_mortem.safetensors   a step that went wrong, if one did
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "examples/gradus/settings/settings.h"
#include "examples/gradus/tasks/vocabulary.h"
#include "framework/io/checkpoint_folder.h"
#include "layers/gpt.h"

namespace examples {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path post_mortem() const { return path_ / "post_mortem.safetensors"; }
  /// By loss for text, else by the share of exact answers.
  gradus::CheckpointFolder checkpoints(const RunSettings& settings) const;

  /// Whether there is a run in it.
  bool holds_a_run() const { return std::filesystem::exists(config()); }
  /// Makes the folder and writes the settings; a run that was there is removed. Throws IoError.
  void start(const RunSettings& settings) const;
  /// Writes the settings of a run that goes on. Throws IoError.
  void write_settings(const RunSettings& settings) const;
  /// Those of a run. Throws IoError where there is none.
  RunSettings settings() const;

  /// Writes model.safetensors.
  void save_model(const gradus::GPT& model, const RunSettings& settings,
                  const Vocabulary& vocabulary) const;

 private:
  std::filesystem::path path_;
};

/// Where a new run goes: settings.out, or run/TASK-SEED, or, where that holds a run, the first of
/// run/TASK-SEED-2, -3, ... that does not. Throws Failure where settings.out holds a run.
RunFolder folder_for(const RunSettings& settings, bool overwrite);

/// A model that was trained, and what is needed to use it.
struct TrainedModel {
  RunSettings settings;
  Vocabulary vocabulary;
  gradus::GPT model;  ///< in eval mode
};

/// Of a run's folder, or of a file model.safetensors. Throws IoError.
TrainedModel load_trained_model(const std::filesystem::path& run);

}  // namespace examples
