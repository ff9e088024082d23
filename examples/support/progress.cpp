#include "examples/support/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/support/format.h"

namespace examples {
namespace {

constexpr double kSecondsBetweenFrames = 0.1;
constexpr double kSecondsBetweenLines = 30.0;
constexpr int kLines = 10;  // plain ones, over the whole run
constexpr int kShortestBar = 4;
constexpr int kDoneColor = 36;
constexpr int kToDoColor = 240;

/// The fields, all ASCII and two blanks apart, on as many lines as they need.
std::vector<std::string> flow(const std::vector<std::string>& fields, int width) {
  const auto room = static_cast<std::size_t>(width);
  std::vector<std::string> lines;
  for (const std::string& field : fields) {
    if (!lines.empty() && lines.back().size() + 2 + field.size() <= room) {
      lines.back() += "  " + field;
    } else {
      lines.push_back(field.substr(field.find_first_not_of(' ')).substr(0, room));
    }
  }
  return lines;
}

std::string repeated(const std::string& piece, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += piece;
  return all;
}

std::string bar(const Terminal& terminal, double share, int width) {
  const int done = static_cast<int>(share * width);
  return terminal.colored(kDoneColor, repeated(terminal.pick("━", "#"), done)) +
         terminal.colored(kToDoColor, repeated(terminal.pick("─", "."), width - done));
}

std::string percent(double share) {
  return share < 0 ? "    - %" : format("%5.1f %%", 100.0 * share);
}

}  // namespace

Progress::Progress(std::int64_t total_steps, const std::string& title, bool quiet)
    : quiet_(quiet), total_(total_steps) {
  if (!quiet_ && !terminal_.redraws()) std::fprintf(stderr, "%s\n", title.c_str());
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::step(double loss) {
  ++step_;
  loss_.add(loss);
  const double now = seconds();
  step_seconds_.add(now - seconds_at_step_);
  seconds_at_step_ = now;
  if (quiet_ || step_ == total_) return;  // finish() shows the last step

  const double since_output = now - seconds_at_output_;
  if (terminal_.redraws()) {
    if (drawn_columns_.empty() || since_output >= kSecondsBetweenFrames) draw();
  } else if (step_ * kLines / total_ > step_at_output_ * kLines / total_ ||
             since_output >= kSecondsBetweenLines) {
    write_line();
  }
}

void Progress::finish() {
  if (quiet_) return;
  if (terminal_.redraws()) {
    draw();
  } else if (step_at_output_ < step_) {
    write_line();
  }
}

// With "~" until the latest steps take about as long as all so far did.
std::string Progress::remaining() const {
  if (step_ == 0) return "-:--";
  const double mean = seconds_at_step_ / static_cast<double>(step_);
  const double latest = step_seconds_.value();
  const bool steady = seconds_at_step_ > 2.0 && std::abs(latest - mean) < 0.1 * mean;
  return (steady ? "" : "~") + clock_time(latest * static_cast<double>(total_ - step_));
}

std::vector<std::string> Progress::frame(int width) const {
  const double share = static_cast<double>(step_) / static_cast<double>(total_);
  const std::string total = std::to_string(total_);
  const std::string count = format("step %*lld/%s", static_cast<int>(total.size()),
                                   static_cast<long long>(step_), total.c_str());
  const std::string times = format("%3.0f %%  %s  ETA %-6s", std::floor(100.0 * share),
                                   clock_time(seconds_at_step_).c_str(), remaining().c_str());

  std::vector<std::string> lines = flow({count, times}, width);
  const int room = width - columns(count) - columns(times) - 4;
  if (room >= kShortestBar) lines = {count + "  " + bar(terminal_, share, room) + "  " + times};

  const double speed = static_cast<double>(step_) / std::max(seconds_at_step_, 1e-9);
  for (const std::string& line :
       flow({format("loss %.4f (smoothed)", loss_.value()), "held-out exact " + percent(held_out_),
             format(speed < 10 ? "%4.1f step/s" : "%4.0f step/s", speed)},
            width)) {
    lines.push_back(line);
  }
  return lines;
}

// Goes back over what it drew before and writes over it, all in one piece, so that nothing
// flickers. A window made narrower has broken the old lines into several. The cursor rests on the
// line below, where the ^C of an interrupt does no harm.
void Progress::draw() {
  const int window = terminal_.width();
  int rows_up = 0;
  for (const int length : drawn_columns_) rows_up += 1 + std::max(length - 1, 0) / window;

  std::string output = "\r";
  if (rows_up > 0) output += format("\x1b[%dA", rows_up);
  if (window != drawn_window_) output += "\x1b[J";  // whatever the old lines have become
  drawn_window_ = window;
  drawn_columns_.clear();
  for (const std::string& line : frame(std::max(window - 1, 1))) {
    output += line + "\x1b[K\n";  // and no rest of a longer line
    drawn_columns_.push_back(columns(line));
  }
  output += "\x1b[J";  // and no rest of more lines
  std::fwrite(output.data(), 1, output.size(), stderr);
  seconds_at_output_ = seconds();
}

void Progress::write_line() {
  std::string line = format("step=%lld/%lld smoothed_loss=%.4f", static_cast<long long>(step_),
                            static_cast<long long>(total_), loss_.value());
  if (held_out_ >= 0) line += format(" held_out_exact=%.3f", held_out_);
  line += format(" step_s=%.1f", static_cast<double>(step_) / std::max(seconds_at_step_, 1e-9));
  line += format(" time=%s eta=%s", clock_time(seconds_at_step_).c_str(), remaining().c_str());
  std::fprintf(stderr, "%s\n", line.c_str());
  seconds_at_output_ = seconds();
  step_at_output_ = step_;
}

}  // namespace examples
