#include "examples/gradus/watch/live_frame.h"

#include <algorithm>
#include <cmath>

#include "examples/gradus/watch/predictions.h"
#include "examples/support/format.h"
#include "examples/support/sparkline.h"
#include "examples/support/text_layout.h"
#include "examples/support/utf8.h"
#include "framework/core/error.h"

namespace examples {
namespace {

constexpr int kShortestBar = 4;
constexpr int kWidestSparkline = 40;
constexpr int kDoneColor = 36;
constexpr int kToDoColor = 240;
constexpr const char* kNoLabel = "          ";

using Lines = std::vector<std::string>;

void append(Lines& lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

std::string bar(const Terminal& terminal, double share, int width) {
  const int done = static_cast<int>(share * width);
  return terminal.colored(kDoneColor, repeated(terminal.pick("━", "#"), done)) +
         terminal.colored(kToDoColor, repeated(terminal.pick("─", "."), width - done));
}

/// The bar takes the room that the numbers leave, and where there is little the numbers have it.
Lines progress_lines(const WatchState& state, const Terminal& terminal, int width) {
  const Index total = state.facts().total_steps;
  const double share = static_cast<double>(state.step().number) / static_cast<double>(total);
  const std::string all = std::to_string(total);
  const std::string count = format("step      %*lld/%s", static_cast<int>(all.size()),
                                   static_cast<long long>(state.step().number), all.c_str());
  const std::string taken = clock_time(state.step().seconds);
  const std::string left = share < 1 ? "ETA " + state.time_left() : "done";
  const std::string times =
      format("%3.0f %%  %s  %-9s", std::floor(100.0 * share), taken.c_str(), left.c_str());
  const int room = width - columns(count) - columns(times) - 4;
  if (room < kShortestBar) return flow({count, times}, {.width = width});
  return {count + "  " + bar(terminal, share, room) + "  " + times};
}

Lines loss_lines(const WatchState& state, const Terminal& terminal, int width) {
  const double chance = std::log(static_cast<double>(state.facts().vocab_size));
  Lines lines =
      flow({format("%.4f (smoothed)", state.smoothed_loss()), format("lr %.2e", state.step().lr),
            format("ln %lld = %.3f", static_cast<long long>(state.facts().vocab_size), chance)},
           {.width = width, .label = "loss      "});
  const std::vector<double>& losses = state.smoothed_losses();
  const Index first = state.step().number - static_cast<Index>(losses.size()) + 1;
  const std::string scale = gradus::text("  steps ", first, terminal.pick("…", "..."),
                                         state.step().number, ", log scale");
  const int room = std::min(width - columns(kNoLabel) - columns(scale), kWidestSparkline);
  if (room > 0) lines.push_back(kNoLabel + sparkline(losses, room, terminal) + scale);
  return lines;
}

Lines gradient_lines(const WatchState& state, int width) {
  std::vector<std::string> fields{five_columns(state.step().gradient_norm)};
  for (const auto& [kind, norm] : state.groups()) fields.push_back(kind + " " + five_columns(norm));
  if (state.facts().clip > 0) {
    fields.push_back(format("clip %g (%.0f %%)", state.facts().clip, 100 * state.clipped_share()));
  }
  return flow(fields, {.width = width, .label = "gradient  "});
}

Lines speed_lines(const WatchState& state, int width) {
  const double speed = state.steps_per_second();
  const double kept = state.kept_bytes();
  return flow({format(speed < 10 ? "%4.1f step/s" : "%4.0f step/s", speed),
               rounded(state.tokens_per_second()) + " tok/s", byte_size(peak_bytes()) + " peak",
               kept > 0 ? byte_size(kept) + " kept for backward" : ""},
              {.width = width, .label = "speed     "});
}

/// Line ends and the like as a mark, and in ASCII all that is not.
std::string in_one_line(std::string_view text, const Terminal& terminal) {
  std::string line;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    const char32_t point = code_point(character);
    const bool is_shown = point >= 0x20 && point != 0x7F && !is_stray_byte(character) &&
                          (terminal.unicode() || point < 0x7F);
    line += is_shown ? std::string(character) : terminal.pick("·", "?");
    text.remove_prefix(character.size());
  }
  return line;
}

Lines held_out_lines(const WatchState& state, const Terminal& terminal, int width) {
  const std::string when = gradus::text("every ", state.facts().evaluate_every, " steps");
  const FlowOptions layout{.width = width, .label = "held-out  "};
  if (!state.evaluation()) return flow({"-", "(" + when + ")"}, layout);
  const Evaluation& seen = *state.evaluation();
  const std::string exact =
      seen.has_exact() ? format("exact %5.1f %%", 100.0 * seen.exact_share()) : "";
  Lines lines = flow({exact, format("loss %.4f", seen.loss), format("best %.4f", state.best_loss()),
                      "(" + when + ")"},
                     layout);
  append(lines, prediction_lines(seen.predictions, terminal, width));
  if (!seen.writing.empty()) {
    lines.push_back(cut_to("  " + in_one_line(seen.writing, terminal), width));
  }
  return lines;
}

}  // namespace

std::vector<std::string> live_frame(const WatchState& state, const Terminal& terminal, int width) {
  Lines lines = progress_lines(state, terminal, width);
  append(lines, loss_lines(state, terminal, width));
  append(lines, gradient_lines(state, width));
  append(lines, speed_lines(state, width));
  append(lines, held_out_lines(state, terminal, width));
  return lines;
}

}  // namespace examples
