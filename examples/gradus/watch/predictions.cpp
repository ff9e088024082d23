#include "examples/gradus/watch/predictions.h"

#include "examples/support/text_layout.h"

namespace examples {
namespace {

constexpr int kRightColor = 71;
constexpr int kWrongColor = 167;

}  // namespace

std::vector<std::string> prediction_lines(const std::vector<Prediction>& predictions,
                                          const Terminal& terminal, int width) {
  const std::string arrow = terminal.pick(" → ", " -> ");
  const std::string right = terminal.pick("✓", "ok");
  const std::string wrong = terminal.pick("✗", "WRONG");
  std::vector<std::string> lines;
  for (const Prediction& each : predictions) {
    const std::string text = "  " + each.question + arrow + each.answer + "  ";
    const std::string mark = each.is_right() ? right : wrong;
    const std::string rest = each.is_right() ? "" : " want " + each.wanted;
    const bool fits = columns(text + mark + rest) <= width;
    const int color = each.is_right() ? kRightColor : kWrongColor;
    lines.push_back(fits ? text + terminal.colored(color, mark) + rest
                         : cut_to(text + mark + rest, width));
  }
  return lines;
}

}  // namespace examples
