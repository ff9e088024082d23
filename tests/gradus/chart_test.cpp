#include "examples/support/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "examples/support/axis.h"
#include "tests/gradus/markup_checker.h"
#include "tests/support/catch.h"

using namespace examples;
using namespace gradus::testing;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Point> line(std::size_t count) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back({static_cast<double>(i), 1.0});
  return points;
}

Chart of_one(std::vector<Point> points, bool log = false) {
  return {.title = "t",
          .x_title = "step",
          .panels = {{.title = "loss", .curves = {{.points = std::move(points)}}, .log = log}},
          .legend = {"run"}};
}

/// The data of the first curve.
std::string path_of(const std::string& picture) {
  const std::size_t start = picture.find("\" d=\"") + 5;
  return picture.substr(start, picture.find('"', start) - start);
}

std::size_t count(const std::string& text, char wanted) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), wanted));
}

std::vector<double> numbers(const Axis& axis) {
  std::vector<double> all;
  for (const Mark& mark : axis.marks()) all.push_back(mark.number);
  return all;
}

}  // namespace

TEST_CASE("a chart is well-formed, as SVG and on a page", "[gradus][chart]") {
  const Chart chart = of_one({{0, 3}, {10, 1}, {20, 0.5}});
  CHECK(markup_fault(svg(chart)) == "");
  CHECK(markup_fault(html(chart)) == "");
  CHECK_THAT(svg(chart), ContainsSubstring("prefers-color-scheme: dark"));
}

TEST_CASE("a chart needs nothing from elsewhere", "[gradus][chart]") {
  const std::string page = html(of_one({{0, 3}, {10, 1}}));
  for (const char* reference : {"<script", "<link", "href", "src=", "url(", "@import"}) {
    CHECK(page.find(reference) == page.npos);
  }
}

TEST_CASE("names in a chart are harmless", "[gradus][chart]") {
  Chart chart = of_one({{0, 3}, {10, 1}});
  const std::string name = "</title></svg><script>alert(1)</script> & \"a\" 'b' \x01\xFF";
  chart.title = name;
  chart.legend = {name};
  for (const std::string& text : {svg(chart), html(chart)}) {
    CHECK(markup_fault(text) == "");
    CHECK(text.find("<script") == text.npos);
    CHECK_THAT(text,
               ContainsSubstring("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;a&quot;"));
  }
}

TEST_CASE("numbers that are none, and those a log scale lacks, are gaps", "[gradus][chart]") {
  const std::vector<Point> points = {{0, 1}, {1, 2}, {2, kNaN}, {3, 2}, {4, -1}, {5, 3}, {6, 2}};
  CHECK(count(path_of(svg(of_one(points))), 'M') == 2);
  CHECK(count(path_of(svg(of_one(points, true))), 'M') == 3);
  CHECK(svg(of_one(points)).find("nan") == std::string::npos);
}

TEST_CASE("numbers too large or too small for an axis are gaps", "[gradus][chart]") {
  for (const bool log : {false, true}) {
    const std::string picture = svg(of_one({{0, 1}, {1, 1e308}, {2, -1e308}, {3, 1e-320}}, log));
    CHECK(picture.find("nan") == picture.npos);
    CHECK(picture.find("inf") == picture.npos);
  }
}

TEST_CASE("a chart of one point, of equal ones, and of none can be drawn", "[gradus][chart]") {
  for (const bool log : {false, true}) {
    for (const auto& points : {line(1), line(5), std::vector<Point>{}, {{3, kNaN}}}) {
      const std::string picture = svg(of_one(points, log));
      CHECK(markup_fault(picture) == "");
      CHECK(picture.find("nan") == picture.npos);
      CHECK(picture.find("inf") == picture.npos);
    }
  }
}

TEST_CASE("a million points take no more room than can be seen", "[gradus][chart]") {
  std::vector<Point> points = line(1'000'000);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].y = 1.0 + std::sin(double(i) * 0.1);
  points[123'457].y = 50.0;
  const std::string picture = svg(of_one(points));
  CHECK(picture.size() < 100'000);
  CHECK_THAT(path_of(picture), ContainsSubstring(" 40.0"));  // the peak touches the top
}

TEST_CASE("thinning keeps first, lowest, highest and last, and a gap", "[gradus][chart]") {
  std::vector<Point> points = line(10'000);
  points[5'001].y = -7.0;
  points[5'002].y = 9.0;
  points[7'000].y = kNaN;
  const std::vector<Point> few = thinned(points, 10);
  CHECK(few.size() <= 50);
  double low = 0, high = 0;
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    if (i > 0) CHECK(few[i].x > few[i - 1].x);
    if (std::isnan(few[i].y)) ++gaps;
    low = std::fmin(low, few[i].y);
    high = std::fmax(high, few[i].y);
  }
  CHECK(low == -7.0);
  CHECK(high == 9.0);
  CHECK(gaps == 1);
  CHECK(few.front().x == 0.0);
  CHECK(few.back().x == 9'999.0);
  CHECK(thinned({}, 10).empty());
}

TEST_CASE("axes are marked at round numbers", "[gradus][chart]") {
  CHECK(numbers(Axis({.low = 0, .high = 2.3, .start = 0, .end = 300})) ==
        std::vector<double>{0, 0.5, 1, 1.5, 2});
  CHECK(numbers(Axis({.low = 0, .high = 4000, .start = 0, .end = 750})) ==
        std::vector<double>{0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000});
  CHECK(numbers(Axis({.low = 1e-3, .high = 2, .start = 260, .end = 0, .log = true})).size() >= 3);
  CHECK(numbers(Axis({.low = 0.3, .high = 4, .start = 260, .end = 0, .log = true})) ==
        std::vector<double>{0.5, 1, 2});
  CHECK(Axis({.low = 1, .high = 100, .start = 0, .end = 10, .log = true}).place(10) == Approx(5));
  CHECK(round_label(1500) == "1 500");
  CHECK(round_label(0.02) == "0.02");
  CHECK(round_label(-0.0) == "0");
}
