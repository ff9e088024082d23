#include "examples/support/time_left.h"

#include <cmath>

#include "examples/support/format.h"

namespace examples {

void TimeLeft::step(double seconds) {
  step_seconds_.add(seconds - seconds_);
  seconds_ = seconds;
  ++steps_;
}

std::string TimeLeft::text(std::int64_t steps) const {
  constexpr double kWarmUpSeconds = 2.0;
  if (steps_ == 0) return "-:--";
  const double mean = seconds_ / static_cast<double>(steps_);
  const double latest = step_seconds_.value();
  const bool steady = seconds_ > kWarmUpSeconds && std::abs(latest - mean) < 0.1 * mean;
  return (steady ? "" : "~") + clock_time(latest * static_cast<double>(steps));
}

}  // namespace examples
