#include "examples/support/heat_map.h"

#include <algorithm>
#include <cstddef>

#include "examples/support/format.h"

namespace examples {
namespace {

using gradus::Index;

constexpr int kLabelColumns = 9;    // "  query 7"
constexpr int kMaximumColumns = 6;  // "  0.98"
constexpr int kWidestCell = 3;

struct Shade {
  const char* glyph;
  int color;
};

std::vector<Shade> shades(const Terminal& terminal) {
  if (terminal.unicode()) return {{"·", 240}, {"░", 24}, {"▒", 31}, {"▓", 38}, {"█", 45}};
  return {{".", 240}, {":", 24}, {"-", 24}, {"+", 31}, {"*", 31}, {"%", 38}, {"#", 45}, {"@", 45}};
}

std::string padded(const std::string& text, int width) {
  return text + std::string(static_cast<std::size_t>(std::max(width - columns(text), 0)), ' ');
}

class Drawing {
 public:
  Drawing(const Terminal& terminal, Index keys) : terminal_(terminal), shades_(shades(terminal)) {
    const int room = terminal.width() - 1 - kLabelColumns - 2 - kMaximumColumns;
    cell_ = std::clamp(room / static_cast<int>(keys), 1, kWidestCell);
  }

  std::string head(const std::vector<std::string>& key_tokens) const {
    std::string line(kLabelColumns + 2, ' ');
    for (const std::string& token : key_tokens) line += padded(token, cell_);
    return padded("", kLabelColumns + 2) + "key\n" + line + "   max\n";
  }

  /// A strong weight fills its cell but for a gap; the weakest is a single dot.
  std::string cell(double weight) const {
    const auto last = shades_.size() - 1;
    const auto level = static_cast<std::size_t>(std::clamp(weight, 0.0, 1.0) *
                                                static_cast<double>(shades_.size()));
    const Shade& shade = shades_[std::min(level, last)];
    std::string glyphs = shade.glyph;
    if (level > 0 && cell_ == kWidestCell) glyphs += shade.glyph;
    return padded(terminal_.colored(shade.color, glyphs), cell_);
  }

  std::string legend() const {
    std::string scale;
    for (const Shade& shade : shades_) scale += terminal_.colored(shade.color, shade.glyph);
    return padded("", kLabelColumns + 2) + "weight 0 " + scale + " 1\n";
  }

 private:
  const Terminal& terminal_;
  std::vector<Shade> shades_;
  int cell_;
};

}  // namespace

std::string heat_map(const gradus::Tensor& weights, const std::vector<std::string>& query_tokens,
                     const std::vector<std::string>& key_tokens, const Terminal& terminal) {
  const Drawing drawing(terminal, weights.size(1));
  std::string picture = drawing.head(key_tokens);
  for (Index query = 0; query < weights.size(0); ++query) {
    const std::vector<double> row = weights[query].to_vector<double>();
    picture += "  query " + query_tokens[static_cast<std::size_t>(query)] + "  ";
    for (const double weight : row) picture += drawing.cell(weight);
    picture += format("  %.2f\n", *std::max_element(row.begin(), row.end()));
  }
  return picture + drawing.legend();
}

}  // namespace examples
