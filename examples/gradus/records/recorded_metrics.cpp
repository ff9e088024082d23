#include "examples/gradus/records/recorded_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "framework/core/error.h"
#include "framework/io/file.h"

namespace examples {

using gradus::IoError;
using gradus::text;

namespace {

using Json = nlohmann::json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr double kLastStep = 1e15;  // and so a whole number, whose axis can be drawn

/// Takes off what a run that went on from `step` has written anew.
void forget_from(double step, RecordedMetrics& metrics) {
  for (auto& [name, points] : metrics.series) {
    while (!points.empty() && points.back().x >= step) points.pop_back();
  }
}

/// The line with null in place of the numbers that JSON lacks and that Python's writes: NaN,
/// Infinity, -Infinity.
std::string without_bare_words(std::string_view line) {
  constexpr std::string_view kWords[] = {"-Infinity", "Infinity", "NaN"};
  std::string result;
  bool in_string = false;
  while (!line.empty()) {
    std::string_view piece = line.substr(0, in_string && line.front() == '\\' ? 2 : 1);
    if (piece == "\"") in_string = !in_string;
    for (const std::string_view word : kWords) {
      if (!in_string && line.starts_with(word)) piece = word;
    }
    const bool is_word = piece.size() > 1 && piece.front() != '\\';
    result += is_word ? "null" : piece;
    line.remove_prefix(piece.size());
  }
  return result;
}

/// Adds the numbers of a line; false where it is no object with a step.
bool add_line(std::string_view line, double& last_step, RecordedMetrics& metrics) {
  Json members = Json::parse(line, nullptr, false);
  if (members.is_discarded()) members = Json::parse(without_bare_words(line), nullptr, false);
  if (!members.is_object() || !members.contains("step") || !members["step"].is_number())
    return false;
  const double step = members["step"].get<double>();
  if (std::abs(step) > kLastStep) return false;
  if (step <= last_step) forget_from(step, metrics);
  last_step = step;
  for (const auto& [name, value] : members.items()) {
    if (name == "step" || !(value.is_number() || value.is_null())) continue;
    metrics.series[name].push_back({step, value.is_null() ? kNaN : value.get<double>()});
  }
  return true;
}

}  // namespace

const std::vector<Point>& RecordedMetrics::of(const std::string& name) const {
  static const std::vector<Point> none;
  const auto found = series.find(name);
  return found == series.end() ? none : found->second;
}

RecordedMetrics parse_metrics(std::string_view words, const std::string& file) {
  RecordedMetrics metrics;
  double last_step = -HUGE_VAL;
  for (std::size_t number = 1; !words.empty(); ++number) {
    const std::size_t length = std::min(words.find('\n'), words.size());
    const std::string_view line = words.substr(0, length);
    words.remove_prefix(std::min(length + 1, words.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;

    if (add_line(line, last_step, metrics)) {
      ++metrics.lines;
      continue;
    }
    if (!words.empty()) {
      throw IoError(text("metrics: line ", number, " of ", file, " cannot be read"),
                    {.need = "an object of JSON with a step on every line"});
    }
    metrics.remarks.push_back(text("line ", number, ", the last one, is cut short: passed over"));
  }
  return metrics;
}

RecordedMetrics read_metrics(const std::filesystem::path& run) {
  const auto path = std::filesystem::is_directory(run) ? run / "metrics.jsonl" : run;
  if (!std::filesystem::exists(path)) {
    throw IoError(text("metrics: there is no ", path.string()),
                  {.need = "the folder of a run, or its metrics.jsonl"});
  }
  return parse_metrics(gradus::read_file(path), path.string());
}

}  // namespace examples
