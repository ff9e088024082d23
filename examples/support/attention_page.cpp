#include "examples/support/attention_page.h"

#include <algorithm>

#include "examples/support/chart_style.h"
#include "examples/support/format.h"
#include "examples/support/heat_map.h"
#include "examples/support/markup.h"
#include "examples/support/pooled.h"
#include "examples/support/text_layout.h"
#include "examples/support/visible.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::Index;
using gradus::text;

constexpr Index kMostSquares = 120'000;  // on a page
constexpr double kFaintest = 0.005;
constexpr int kLongestLabel = 12;
constexpr double kMapPixels = 340.0;
constexpr double kLargestSquare = 22.0;
constexpr double kSmallestLetter = 8.0;
constexpr double kMargin = 84.0;  // for labels, left and above

constexpr const char* kStyle = R"(
.maps { display: flex; flex-wrap: wrap; gap: 1rem }
figure { margin: 0 }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
.frame { fill: none; stroke: #999 }
.square { fill: #0072b2 }
text { font-family: ui-monospace, monospace; fill: #222 }
.query { text-anchor: end }
@media (prefers-color-scheme: dark) { .square { fill: #56b4e9 } text { fill: #eee } }
)";

/// The tokens of a block, as "a" or "a … d".
std::string block_label(const std::vector<std::string>& tokens, Index block, Index size) {
  const auto first = static_cast<std::size_t>(block * size);
  const std::size_t last = std::min(first + static_cast<std::size_t>(size), tokens.size()) - 1;
  return first == last ? tokens[first] : tokens[first] + " … " + tokens[last];
}

class MapDrawing {
 public:
  MapDrawing(const AttentionPage& page, const Pooled& map)
      : page_(page),
        block_(map.block),
        rows_(map.weights.size(0)),
        columns_(map.weights.size(1)),
        square_(std::min(kMapPixels / static_cast<double>(std::max<Index>({rows_, columns_, 1})),
                         kLargestSquare)),
        weights_(map.weights.to_vector<double>()) {}

  std::string drawn() const {
    const double width = kMargin + square_ * static_cast<double>(columns_) + 2;
    const double height = kMargin + square_ * static_cast<double>(rows_) + 2;
    std::string picture =
        text("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"",
             format(" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n", width, height,
                    width, height),
             labels(), "<rect class=\"frame\"",
             box(0, 0, static_cast<double>(columns_), static_cast<double>(rows_)), "/>\n");
    for (Index row = 0; row < rows_; ++row) {
      for (Index column = 0; column < columns_; ++column) picture += square(row, column);
    }
    return picture + "</svg>\n";
  }

 private:
  std::string box(double column, double row, double columns, double rows) const {
    return format(" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
                  kMargin + column * square_, kMargin + row * square_, columns * square_,
                  rows * square_);
  }

  std::string square(Index row, Index column) const {
    const double weight = weights_[static_cast<std::size_t>(row * columns_ + column)];
    if (!(weight >= kFaintest)) return {};
    return text(
        "<rect class=\"square\"", box(static_cast<double>(column), static_cast<double>(row), 1, 1),
        format(" opacity=\"%.2f\"><title>%.3f</title></rect>\n", std::min(weight, 1.0), weight));
  }

  /// One for every row and column, or for every second, third, ... where they would overlap.
  std::string labels() const {
    const Index stride = std::max<Index>(1, static_cast<Index>(kSmallestLetter / square_ + 0.99));
    std::string all;
    for (Index row = 0; row < rows_; row += stride) {
      all += label("query", kMargin - 6, middle(row), "", page_.query_tokens, row);
    }
    for (Index column = 0; column < columns_; column += stride) {
      const std::string turn =
          format(" transform=\"rotate(-90 %.1f %.1f)\"", middle(column), kMargin - 6);
      all += label("key", middle(column), kMargin - 6, turn, page_.key_tokens, column);
    }
    return all;
  }
  double middle(Index place) const {
    return kMargin + square_ * (static_cast<double>(place) + 0.7);
  }
  std::string label(const char* kind, double x, double y, const std::string& turn,
                    const std::vector<std::string>& tokens, Index place) const {
    const double size = std::clamp(square_ * 0.7, kSmallestLetter, 13.0);
    return text("<text class=\"", kind, "\"",
                format(" x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\"", x, y, size), turn, ">",
                escaped(cut_to(block_label(tokens, place, block_), kLongestLabel)), "</text>\n");
  }

  const AttentionPage& page_;
  Index block_;
  Index rows_;
  Index columns_;
  double square_;
  std::vector<double> weights_;
};

std::string notice(Index block) {
  if (block == 1) return {};
  return text("<p>Large: each square is the largest of ", block, " × ", block, " weights.</p>\n");
}

}  // namespace

std::string html(const AttentionPage& page) {
  AttentionPage shown = page;
  shown.query_tokens = visible(page.query_tokens);
  shown.key_tokens = visible(page.key_tokens);
  const Index most = kMostSquares / std::max<Index>(std::ssize(page.maps), 1);

  std::string maps;
  Index block = 1;
  for (const AttentionMap& map : page.maps) {
    check_tokens(map.weights, page.query_tokens.size(), page.key_tokens.size());
    const Pooled drawable = pooled(map.weights, most);
    block = std::max(block, drawable.block);
    maps += text("<figure>\n<figcaption>", escaped(map.title), "</figcaption>\n",
                 MapDrawing(shown, drawable).drawn(), "</figure>\n");
  }
  return text("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>",
              escaped(page.title), "</title>\n<style>", page_style(), kStyle,
              "</style>\n</head>\n<body>\n<h1>", escaped(page.title), "</h1>\n<pre>",
              escaped(page.text), "</pre>\n<p>Rows are queries, columns keys; weights below ",
              kFaintest, " are left blank.</p>\n", notice(block), "<div class=\"maps\">\n", maps,
              "</div>\n</body>\n</html>\n");
}

}  // namespace examples
