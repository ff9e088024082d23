// Time left: how long the rest of a run will take, from how long its steps have taken.
#pragma once

#include <cstdint>
#include <string>

#include "examples/support/smoothed.h"

namespace examples {

class TimeLeft {
 public:
  /// One more step is done, `seconds` after the start of this process's first one.
  void step(double seconds);
  /// Steps per second, of the latest ones.
  double speed() const { return 1.0 / step_seconds_.value(); }
  /// What `steps` more will take: "0:11", with "~" before it until the latest steps take about as
  /// long as all so far did, and "-:--" before the first.
  std::string text(std::int64_t steps) const;

 private:
  Smoothed step_seconds_{0.98};
  std::int64_t steps_ = 0;
  double seconds_ = 0.0;
};

}  // namespace examples
