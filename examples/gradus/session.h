// Session: one sitting of a run: its data, its model, and its training, in front of somebody.
#pragma once

#include <memory>
#include <optional>

#include "examples/gradus/data/dataset.h"
#include "examples/gradus/records/run_folder.h"
#include "examples/gradus/settings/settings.h"
#include "examples/gradus/training/trainer.h"

namespace examples {

enum class Output { text, json };

struct SessionOptions {
  Output output = Output::text;  ///< on stdout
  bool quiet = false;            ///< no progress on stderr
  bool verbose = false;          ///< the model layer by layer, too
};

struct SessionResult {
  TrainingResult training;
  bool was_interrupted = false;
  Evaluation evaluation{};  ///< of all that is held out, unless it was interrupted
};

class Session {
 public:
  /// Seeds the default generator and draws the model; sets the number of threads.
  Session(const RunSettings& settings, RunFolder folder);

  /// Will go on from the latest checkpoint of the folder; returns its step. Throws IoError.
  Index resume();
  /// Trains, shows how it goes, and reports what came of it. Throws Failure.
  SessionResult run(const SessionOptions& options);

  const RunSettings& settings() const { return settings_; }
  const RunFolder& folder() const { return folder_; }
  Dataset& data() { return *data_; }
  const Dataset& data() const { return *data_; }
  gradus::GPT& model() { return model_; }
  const gradus::GPT& model() const { return model_; }

 private:
  RunSettings settings_;
  RunFolder folder_;
  std::unique_ptr<Dataset> data_;
  gradus::GPT model_;
  std::optional<gradus::Checkpoint> checkpoint_;
};

}  // namespace examples
