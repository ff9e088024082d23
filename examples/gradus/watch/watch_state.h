// WatchState: what is known of a run while it goes on, gathered from its steps.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "examples/gradus/training/step.h"
#include "examples/support/smoothed.h"
#include "examples/support/time_left.h"

namespace examples {

/// What does not change while a run goes on.
struct WatchFacts {
  std::string title;  ///< "train sort seed=7", for plain lines
  Index total_steps = 0;
  Index vocab_size = 0;
  Index evaluate_every = 0;
  double clip = 0.0;
};

class WatchState {
 public:
  explicit WatchState(WatchFacts facts) : facts_(std::move(facts)) {}

  /// `seconds` since the first step that this process took.
  void add(const Step& step, double seconds);

  const WatchFacts& facts() const { return facts_; }
  /// The newest step, and the newest of what only some steps have.
  const Step& step() const { return step_; }
  const GroupNorms& groups() const { return groups_; }
  const std::optional<Evaluation>& evaluation() const { return evaluation_; }
  /// The smallest loss on what is held out.
  double best_loss() const { return best_loss_; }
  double kept_bytes() const { return kept_bytes_; }

  double smoothed_loss() const { return loss_.value(); }
  /// Of every step that this process took.
  const std::vector<double>& smoothed_losses() const { return losses_; }
  double clipped_share() const;
  double steps_per_second() const { return time_left_.speed(); }
  double tokens_per_second() const;
  std::string time_left() const;

 private:
  WatchFacts facts_;
  Step step_{};
  GroupNorms groups_{};
  std::optional<Evaluation> evaluation_{};
  double best_loss_ = std::numeric_limits<double>::infinity();
  double kept_bytes_ = 0.0;
  Smoothed loss_{0.95};
  std::vector<double> losses_{};
  Index clipped_ = 0;
  TimeLeft time_left_{};
};

/// The most memory that this process has had so far.
double peak_bytes();

}  // namespace examples
