// Watch: shows a run on stderr while it goes on: numbers that are drawn again in place on a
// terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>

#include "examples/gradus/training/step.h"
#include "examples/gradus/watch/watch_state.h"
#include "examples/support/live_area.h"
#include "examples/support/terminal.h"

namespace examples {

class Watch : public StepListener {
 public:
  explicit Watch(const WatchFacts& facts);

  void on_step(const Step& step) override;
  /// Shows the last state, however short ago the one before.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  double seconds() const;
  void draw();
  void write_line();

  Terminal terminal_{2};
  LiveArea area_;
  WatchState state_;
  Clock::time_point start_ = Clock::now();
  double seconds_at_output_ = -1.0;  // none yet
  Index step_at_output_ = 0;
};

}  // namespace examples
