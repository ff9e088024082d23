#include "examples/support/attention_page.h"

#include <algorithm>

#include "examples/support/heat_map.h"
#include "examples/support/pooled.h"
#include "examples/support/terminal.h"
#include "examples/support/visible.h"
#include "framework/core/error.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/random.h"
#include "framework/ops/softmax.h"
#include "tests/gradus/markup_checker.h"
#include "tests/support/catch.h"

using namespace gradus;
using namespace gradus::testing;
using namespace examples;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string> letters(Index count) {
  std::vector<std::string> tokens;
  for (Index i = 0; i < count; ++i) tokens.emplace_back(1, static_cast<char>('a' + i % 26));
  return tokens;
}

Tensor random_weights(Index queries, Index keys) {
  Generator generator(1);
  return softmax(randn({queries, keys}, float32, &generator) * 3.0, -1);
}

/// Lines as wide as the terminal of a test allows: 80 columns where there is none.
int widest_line(const std::string& picture) {
  int widest = 0;
  for (std::size_t start = 0; start < picture.size();) {
    const std::size_t end = picture.find('\n', start);
    widest = std::max(widest, columns(picture.substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

Terminal ascii_terminal() {
  Terminal terminal(-1);
  terminal.use_ascii();
  return terminal;
}

}  // namespace

TEST_CASE("tokens are visible, whatever they are", "[gradus][attention-page]") {
  CHECK(visible("a") == "a");
  CHECK(visible(" ") == "␣");
  CHECK(visible("\n") == "⏎");
  CHECK(visible("\t") == "␉");
  CHECK(visible(std::string_view("\0", 1)) == "␀");
  CHECK(visible("\xFF") == "\\xFF");
  CHECK(visible("\u200F") == "\\u200F");  // the right-to-left mark
  CHECK(visible("\u0301") == "\\u0301");  // an accent by itself
  CHECK(visible("é") == "é");
  CHECK(visible(" ", false) == "_");
  CHECK(visible("\n", false) == "\\n");
  CHECK(visible("é", false) == "\\u00E9");
}

TEST_CASE("text is printed without commands to the terminal", "[gradus][attention-page]") {
  CHECK(printable("a\tb\r\nc") == "a\tb\r\nc");
  CHECK(printable("\x1b[2J\x07\x7F") == "␛[2J␇␡");
  CHECK(printable("h\xC3\xA9\xC2\x9B\xFF") == "h\xC3\xA9\\u009B\xEF\xBF\xBD");
}

TEST_CASE("a page shows hostile tokens as they were typed", "[gradus][attention-page]") {
  const std::vector<std::string> tokens = {"<s>",   "<script>alert(1)</script>",
                                           "a\"b",  "a'b",
                                           "&amp;", "</script><img src=x onerror=alert(1)>",
                                           " ",     "\n",
                                           "\t",    std::string(1, '\0'),
                                           "\xFF",  "\u200F",
                                           "<!--",  "\u2028"};
  const auto count = static_cast<Index>(tokens.size());
  const std::string page =
      html(AttentionPage{.title = "<b>",
                         .text = "</pre><script>",
                         .query_tokens = tokens,
                         .key_tokens = tokens,
                         .maps = {{"head <1>", random_weights(count, count)}}});
  CHECK(markup_fault(page) == "");
  CHECK(element_count(page, "script") == 0);
  CHECK(element_count(page, "img") == 0);
  CHECK(element_count(page, "!--") == 0);
  CHECK(element_count(page, "text class=\"query\"") == tokens.size());
  CHECK(element_count(page, "text class=\"key\"") == tokens.size());
  CHECK_THAT(page, ContainsSubstring(">&lt;s&gt;</text>"));
  CHECK_THAT(page, ContainsSubstring(">&amp;amp;</text>"));
}

TEST_CASE("cross attention has tokens of its own on either axis", "[gradus][attention-page]") {
  const std::string page = html(AttentionPage{
      .query_tokens = letters(2), .key_tokens = letters(5), .maps = {{"m", random_weights(2, 5)}}});
  CHECK(element_count(page, "text class=\"query\"") == 2);
  CHECK(element_count(page, "text class=\"key\"") == 5);
}

TEST_CASE("tokens that do not fit the weights are refused, with both numbers",
          "[gradus][attention-page]") {
  const AttentionPage page{
      .query_tokens = letters(3), .key_tokens = letters(3), .maps = {{"m", random_weights(4, 4)}}};
  CHECK_THROWS_WITH(html(page), ContainsSubstring("weights (4, 4), 3 query and 3 key tokens"));
  CHECK_THROWS_AS(heat_map(random_weights(4, 4), letters(4), letters(3), ascii_terminal()),
                  ShapeError);
}

TEST_CASE("a page of long sequences stays small, and says how", "[gradus][attention-page]") {
  AttentionPage page{.query_tokens = letters(512), .key_tokens = letters(512)};
  const Tensor weights = random_weights(512, 512) * 0.0 + 0.5;  // every one to be drawn
  for (int map = 0; map < 48; ++map) page.maps.push_back({"m", weights});
  const std::string text = html(page);
  CHECK(text.size() < 20'000'000);
  CHECK_THAT(text, ContainsSubstring("each square is the largest of"));
}

TEST_CASE("pooling keeps the strongest weight of each block", "[gradus][attention-page]") {
  const Tensor weights = tensor({{0, 1, 0}, {0, 0, 2}, {3, 0, 0}});
  CHECK(pooled(weights, 9).block == 1);
  const Pooled small = pooled(weights, 4);
  CHECK(small.block == 2);
  CHECK(all(eq(small.weights, tensor({{1, 2}, {3, 0}}, float64))));
  CHECK(pooled(random_weights(2, 1000), 50).weights.numel() <= 50);
}

TEST_CASE("a heat map is no wider than the terminal and says what was cut",
          "[gradus][attention-page]") {
  const std::string small =
      heat_map(random_weights(3, 3), letters(3), letters(3), ascii_terminal());
  CHECK(small.find("cut:") == small.npos);

  const std::string large =
      heat_map(random_weights(200, 200), letters(200), letters(200), ascii_terminal());
  CHECK(widest_line(large) <= 80);
  CHECK_THAT(large, ContainsSubstring("cut: the first 64 of 200 queries and "));
  CHECK_THAT(large, ContainsSubstring(" of 200 keys are shown"));
}

TEST_CASE("a heat map in ASCII is ASCII, whatever the tokens", "[gradus][attention-page]") {
  const std::vector<std::string> tokens = {"é", "\n", "\u200F", "\xFF", " "};
  const std::string picture = heat_map(random_weights(5, 5), tokens, tokens, ascii_terminal());
  for (const char c : picture) CHECK((c == '\n' || (c >= ' ' && c <= '~') || c == '\x1b'));
}
