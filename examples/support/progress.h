// Progress of a training run, on stderr: a bar and numbers that are drawn again in place on a
// terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/smoothed.h"
#include "examples/support/terminal.h"

namespace examples {

class Progress {
 public:
  /// Writes `title` as the first plain line. Quiet: writes nothing, and only counts.
  Progress(std::int64_t total_steps, const std::string& title, bool quiet);

  /// One step is done.
  void step(double loss);
  /// The newest share, 0 to 1, of held-out samples that came out right.
  void set_held_out(double share) { held_out_ = share; }
  /// Shows the last state, however short ago the one before.
  void finish();

  double seconds() const;
  double smoothed_loss() const { return loss_.value(); }

 private:
  using Clock = std::chrono::steady_clock;

  std::string remaining() const;
  std::vector<std::string> frame(int width) const;
  void draw();
  void write_line();

  Terminal terminal_{2};
  bool quiet_;
  std::int64_t total_;
  std::int64_t step_ = 0;
  Smoothed loss_{0.95};
  Smoothed step_seconds_{0.98};
  double held_out_ = -1.0;  // none yet
  Clock::time_point start_ = Clock::now();
  double seconds_at_step_ = 0.0;
  double seconds_at_output_ = 0.0;
  std::int64_t step_at_output_ = 0;
  std::vector<int> drawn_columns_;  // of each line on the screen
  int drawn_window_ = 0;            // how wide the window was then
};

}  // namespace examples
