#include "examples/gradus/watch/watch_state.h"

#include <sys/resource.h>

#include <algorithm>

namespace examples {

void WatchState::add(const Step& step, double seconds) {
  step_ = step;
  if (!step.groups.empty()) groups_ = step.groups;
  if (step.evaluation) {
    evaluation_ = step.evaluation;
    best_loss_ = std::min(best_loss_, step.evaluation->loss);
  }
  if (step.kept_bytes > 0) kept_bytes_ = step.kept_bytes;
  loss_.add(step.loss);
  losses_.push_back(loss_.value());
  if (step.clipped) ++clipped_;
  time_left_.step(seconds);
}

double WatchState::clipped_share() const {
  return losses_.empty() ? 0.0
                         : static_cast<double>(clipped_) / static_cast<double>(losses_.size());
}

double WatchState::tokens_per_second() const {
  return steps_per_second() * static_cast<double>(step_.tokens);
}

std::string WatchState::time_left() const {
  return time_left_.text(facts_.total_steps - step_.number);
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace examples
