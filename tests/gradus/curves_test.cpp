#include "examples/gradus/report/curves.h"

#include <cmath>

#include "framework/core/error.h"
#include "tests/support/catch.h"

using namespace examples;
using Catch::Matchers::ContainsSubstring;

namespace {

RecordedMetrics parsed(const std::string& text) { return parse_metrics(text, "metrics.jsonl"); }

PlottedRun run(const std::string& name, const std::string& text) { return {name, parsed(text)}; }

}  // namespace

TEST_CASE("metrics may lack numbers on some lines", "[gradus][plot]") {
  const RecordedMetrics metrics = parsed(
      "{\"step\":1,\"loss\":2.5,\"lr\":0.1}\n"
      "{\"step\":2,\"loss\":null,\"val_loss\":2.25,\"note\":\"text\",\"list\":[1]}\n"
      "\n"
      "{\"step\":3,\"loss\":1.5}\n");
  CHECK(metrics.lines == 3);
  CHECK(metrics.remarks.empty());
  REQUIRE(metrics.of("loss").size() == 3);
  CHECK(metrics.of("loss")[0].y == 2.5);
  CHECK(std::isnan(metrics.of("loss")[1].y));
  REQUIRE(metrics.of("val_loss").size() == 1);
  CHECK(metrics.of("val_loss")[0].x == 2.0);
  CHECK(metrics.of("exact").empty());
}

TEST_CASE("metrics that Python wrote may hold NaN and Infinity", "[gradus][plot]") {
  const RecordedMetrics metrics = parsed(
      "{\"step\":1,\"loss\":NaN,\"note\":\"NaN \\\" NaN\"}\n"
      "{\"step\": 2, \"loss\": -Infinity, \"val_loss\": 3}\n"
      "{\"step\":3,\"loss\": Infinity}\n"
      "{\"step\":4,\"loss\": 2}\n");
  REQUIRE(metrics.of("loss").size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::isnan(metrics.of("loss")[i].y));
  CHECK(metrics.of("loss")[3].y == 2.0);
  CHECK(metrics.of("val_loss").size() == 1);
  CHECK_THROWS_AS(parsed("{\"step\":NaN}\n{\"step\":2}\n"), gradus::IoError);
  CHECK_THROWS_AS(parsed("{\"step\":1,\"loss\":NaNa}\n{\"step\":2}\n"), gradus::IoError);
  CHECK_THROWS_AS(parsed("{\"step\":1e200}\n{\"step\":2}\n"), gradus::IoError);
}

TEST_CASE("a last line cut short is passed over, and said", "[gradus][plot]") {
  for (const char* torn : {"{\"st", "{\"step\":2,\"loss\":1.2", "{\"step\":2,\"lo", "{"}) {
    const RecordedMetrics metrics = parsed(std::string("{\"step\":1,\"loss\":2}\n") + torn);
    CHECK(metrics.lines == 1);
    REQUIRE(metrics.remarks.size() == 1);
    CHECK_THAT(metrics.remarks[0], ContainsSubstring("line 2"));
  }
  CHECK(parsed("").lines == 0);
}

TEST_CASE("a broken line before the last is an error that names it", "[gradus][plot]") {
  CHECK_THROWS_WITH(parsed("{\"step\":1}\nnonsense\n{\"step\":3}\n"),
                    ContainsSubstring("line 2 of metrics.jsonl"));
  CHECK_THROWS_AS(parsed("{\"loss\":1}\n{\"step\":3}\n"), gradus::IoError);
}

TEST_CASE("of a run that was resumed the later lines count", "[gradus][plot]") {
  const RecordedMetrics metrics = parsed(
      "{\"step\":1,\"loss\":4}\n{\"step\":2,\"loss\":3}\n{\"step\":3,\"loss\":9}\n"
      "{\"step\":2,\"loss\":2}\n{\"step\":3,\"loss\":1}\n");
  const std::vector<Point>& loss = metrics.of("loss");
  REQUIRE(loss.size() == 3);
  CHECK(loss[1].y == 2.0);
  CHECK(loss[2].y == 1.0);
}

TEST_CASE("curves: a panel of losses and one of exact answers", "[gradus][plot]") {
  const Chart chart =
      curves_of({run("a", "{\"step\":1,\"loss\":4,\"val_loss\":3,\"exact\":0.5}\n"),
                 run("b", "{\"step\":1,\"loss\":2}\n{\"step\":2,\"loss\":null}\n")});
  REQUIRE(chart.panels.size() == 2);
  CHECK(chart.panels[0].curves.size() == 3);
  CHECK(chart.panels[0].curves[1].number == 1);
  CHECK(chart.panels[0].curves[2].dashed);
  CHECK(chart.panels[1].percent);
  CHECK(chart.title == "a, b");
  CHECK_THAT(chart.legend[0], ContainsSubstring("val_loss 3"));
  CHECK_THAT(chart.note, ContainsSubstring("1 values that cannot be drawn are gaps"));
}

TEST_CASE("curves: runs without a loss are refused", "[gradus][plot]") {
  CHECK_THROWS_AS(curves_of({run("a", "{\"step\":1}\n")}), gradus::IoError);
}
