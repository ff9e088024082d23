// Dataset: what a run learns from: batches to train on, and what is held out to measure with.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/gradus/settings/settings.h"
#include "examples/gradus/tasks/vocabulary.h"
#include "framework/core/tensor.h"
#include "layers/gpt.h"

namespace examples {

/// Targets of this value count nowhere.
inline constexpr Index kNoTarget = -100;

/// Both (B, T), int64: targets[b, t] is what comes after inputs[b, 0..t].
struct Batch {
  gradus::Tensor inputs;
  gradus::Tensor targets;
};

/// What the model makes of a held-out question.
struct Prediction {
  std::string question;
  std::string answer;
  std::string wanted;

  bool is_right() const { return answer == wanted; }
};

/// What came out of a look at what is held out.
struct Evaluation {
  double loss = 0.0;  ///< mean over all targets
  /// Of tasks that are made up: answers without a mistake, of so many.
  Index exact = 0;
  Index samples = 0;
  std::vector<Prediction> predictions{};  ///< a few, mistakes first
  /// Of text: what the model writes when it is left alone.
  std::string writing{};

  bool has_exact() const { return samples > 0; }
  double exact_share() const { return static_cast<double>(exact) / static_cast<double>(samples); }
};

/// A quick look is at a part, always the same, and a full one at everything.
enum class Look { quick, full };

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual const Vocabulary& vocabulary() const = 0;
  /// The most tokens of an input.
  virtual Index block_size() const = 0;
  /// "20 000 train, 2 000 held out (disjoint)"
  virtual std::string sizes() const = 0;

  /// Where batches come from is state(), a text for checkpoints.
  virtual Batch next_batch(Index size) = 0;
  virtual std::string state() const = 0;
  /// Throws IoError for another text than that of state().
  virtual void set_state(const std::string& state) = 0;

  /// Off the tape, with dropout off, and without a draw from any generator of the run.
  virtual Evaluation evaluate(gradus::GPT& model, Look look) const = 0;
};

/// The dataset that the settings name; the same settings give the same one. Throws Failure and
/// IoError for what cannot be learnt from.
std::unique_ptr<Dataset> make_dataset(const RunSettings& settings);

}  // namespace examples
