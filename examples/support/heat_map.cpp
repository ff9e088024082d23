#include "examples/support/heat_map.h"

#include <algorithm>
#include <cstddef>

#include "examples/support/format.h"
#include "examples/support/text_layout.h"
#include "examples/support/visible.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::Index;
using gradus::text;

constexpr int kWidestToken = 12;    // before a line; longer ones are cut
constexpr int kMaximumColumns = 6;  // "  0.98"
constexpr int kWidestCell = 3;
constexpr Index kMostQueries = 64;

struct Shade {
  const char* glyph;
  int color;
};

std::vector<Shade> shades(const Terminal& terminal) {
  if (terminal.unicode()) return {{"·", 240}, {"░", 24}, {"▒", 31}, {"▓", 38}, {"█", 45}};
  return {{".", 240}, {":", 24}, {"-", 24}, {"+", 31}, {"*", 31}, {"%", 38}, {"#", 45}, {"@", 45}};
}

int widest(const std::vector<std::string>& tokens) {
  int width = 1;
  for (const std::string& token : tokens) width = std::max(width, columns(token));
  return std::min(width, kWidestToken);
}

class Drawing {
 public:
  Drawing(const Terminal& terminal, const std::vector<std::string>& query_tokens, Index keys)
      : terminal_(terminal),
        shades_(shades(terminal)),
        token_columns_(widest(query_tokens)),
        room_(std::max(terminal.width() - 1 - columns(label("")) - kMaximumColumns, 1)),
        cell_(std::clamp(room_ / static_cast<int>(std::max<Index>(keys, 1)), 1, kWidestCell)),
        keys_(std::min<Index>(keys, room_)) {}

  Index keys() const { return keys_; }

  std::string label(const std::string& token) const {
    return "  query " + padded(cut_to(token, token_columns_), token_columns_) + "  ";
  }

  std::string head(const std::vector<std::string>& key_tokens) const {
    std::string line = indent();
    const int shown = std::max(cell_ - 1, 1);
    for (Index key = 0; key < keys_; ++key) {
      line += padded(cut_to(key_tokens[static_cast<std::size_t>(key)], shown), cell_);
    }
    return indent() + "key\n" + line + "   max\n";
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
    return indent() + "weight 0 " + scale + " 1\n";
  }

 private:
  std::string indent() const { return repeated(" ", columns(label(""))); }

  const Terminal& terminal_;
  std::vector<Shade> shades_;
  int token_columns_;
  int room_;
  int cell_;
  Index keys_;
};

}  // namespace

void check_tokens(const gradus::Tensor& weights, std::size_t query_tokens, std::size_t key_tokens) {
  const auto queries = static_cast<Index>(query_tokens);
  const auto keys = static_cast<Index>(key_tokens);
  if (weights.shape() == gradus::Shape{queries, keys}) return;
  throw gradus::ShapeError(
      "heat map: the tokens do not fit the weights",
      {.got = text("weights ", weights.shape(), ", ", queries, " query and ", keys, " key tokens"),
       .need = "weights (queries, keys), and a token for each"});
}

std::string heat_map(const gradus::Tensor& weights, const std::vector<std::string>& query_tokens,
                     const std::vector<std::string>& key_tokens, const Terminal& terminal) {
  check_tokens(weights, query_tokens.size(), key_tokens.size());
  const std::vector<std::string> queries = visible(query_tokens, terminal.unicode());
  const Drawing drawing(terminal, queries, weights.size(1));
  const Index lines = std::min(weights.size(0), kMostQueries);

  std::string picture = drawing.head(visible(key_tokens, terminal.unicode()));
  for (Index query = 0; query < lines; ++query) {
    const std::vector<double> row = weights[query].to_vector<double>();
    picture += drawing.label(queries[static_cast<std::size_t>(query)]);
    for (Index key = 0; key < drawing.keys(); ++key) {
      picture += drawing.cell(row[static_cast<std::size_t>(key)]);
    }
    if (!row.empty()) picture += format("  %.2f", *std::max_element(row.begin(), row.end()));
    picture += "\n";
  }
  picture += drawing.legend();
  if (lines == weights.size(0) && drawing.keys() == weights.size(1)) return picture;
  return picture + text("  cut: the first ", lines, " of ", weights.size(0), " queries and ",
                        drawing.keys(), " of ", weights.size(1), " keys are shown\n");
}

}  // namespace examples
