#include "examples/gradus/watch/watch.h"

#include <algorithm>
#include <cstdio>

#include "examples/gradus/watch/live_frame.h"
#include "examples/support/format.h"

namespace examples {
namespace {

constexpr double kSecondsBetweenFrames = 0.1;
constexpr double kSecondsBetweenLines = 30.0;
constexpr Index kLines = 10;  // plain ones, over the whole run

std::string plain_line(const WatchState& state) {
  const Step& step = state.step();
  std::string line =
      format("step=%lld/%lld smoothed_loss=%.4f", static_cast<long long>(step.number),
             static_cast<long long>(state.facts().total_steps), state.smoothed_loss());
  if (state.evaluation()) {
    const Evaluation& seen = *state.evaluation();
    line += format(" val_loss=%.4f", seen.loss);
    if (seen.has_exact()) line += format(" exact=%.3f", seen.exact_share());
  }
  return line + format(" lr=%.2e gradient=%.3f step_s=%.1f time=%s eta=%s", step.lr,
                       step.gradient_norm, state.steps_per_second(),
                       clock_time(step.seconds).c_str(), state.time_left().c_str());
}

}  // namespace

Watch::Watch(const WatchFacts& facts) : state_(facts) {
  if (!terminal_.redraws()) std::fprintf(stderr, "%s\n", facts.title.c_str());
}

double Watch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Watch::on_step(const Step& step) {
  if (step_at_output_ == 0) step_at_output_ = step.number - 1;
  const double now = seconds();
  state_.add(step, now);
  const Index total = state_.facts().total_steps;
  if (step.number == total) return;  // finish() shows the last step

  const double since_output = now - seconds_at_output_;
  if (terminal_.redraws()) {
    if (seconds_at_output_ < 0 || since_output >= kSecondsBetweenFrames) draw();
  } else if (step.number * kLines / total > step_at_output_ * kLines / total ||
             since_output >= kSecondsBetweenLines) {
    write_line();
  }
}

void Watch::finish() {
  if (state_.step().number == 0) return;
  if (terminal_.redraws()) {
    draw();
    std::fputc('\n', stderr);
  } else if (step_at_output_ < state_.step().number) {
    write_line();
  }
}

void Watch::draw() {
  const Window window = terminal_.window();
  const std::string output =
      area_.drawn(live_frame(state_, terminal_, std::max(window.columns - 1, 1)), window);
  std::fwrite(output.data(), 1, output.size(), stderr);
  seconds_at_output_ = seconds();
}

void Watch::write_line() {
  std::fprintf(stderr, "%s\n", plain_line(state_).c_str());
  seconds_at_output_ = seconds();
  step_at_output_ = state_.step().number;
}

}  // namespace examples
