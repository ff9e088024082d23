#include "examples/gradus/report/curves.h"

#include <algorithm>

#include "examples/support/format.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

/// One curve of each run that has this number.
std::vector<Curve> curves(const std::vector<PlottedRun>& runs, const std::string& name,
                          bool dashed) {
  std::vector<Curve> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<Point>& points = runs[i].metrics.of(name);
    if (!points.empty()) all.push_back({.number = i, .points = points, .dashed = dashed});
  }
  return all;
}

/// ", val_loss 0.007", or nothing where the run has no such number.
std::string last(const RecordedMetrics& metrics, const std::string& name) {
  const std::vector<Point>& points = metrics.of(name);
  return points.empty() ? "" : ", " + name + format(" %.4g", points.back().y);
}

std::string legend_of(const PlottedRun& run) {
  const std::vector<Point>& loss = run.metrics.of("loss");
  const std::string steps = loss.empty() ? "no loss" : "step " + format("%.0f", loss.back().x);
  return text(run.name, ": ", steps, last(run.metrics, "loss"), last(run.metrics, "val_loss"),
              last(run.metrics, "exact"));
}

std::size_t gaps(const std::vector<Panel>& panels) {
  std::size_t count = 0;
  for (const Panel& panel : panels) {
    for (const Curve& curve : panel.curves) {
      count += static_cast<std::size_t>(
          std::count_if(curve.points.begin(), curve.points.end(),
                        [&](const Point& point) { return !can_be_drawn(point.y, panel); }));
    }
  }
  return count;
}

std::string note_on(const std::vector<Panel>& panels) {
  const std::size_t count = gaps(panels);
  const std::string lines = "solid: training, dashed: validation";
  return count == 0 ? lines : text(lines, "; ", count, " values that cannot be drawn are gaps");
}

}  // namespace

Chart curves_of(const std::vector<PlottedRun>& runs, const CurvesOptions& options) {
  Panel loss{.title = options.log_loss ? "loss (log scale)" : "loss",
             .curves = curves(runs, "loss", false),
             .log = options.log_loss};
  for (Curve& curve : curves(runs, "val_loss", true)) loss.curves.push_back(std::move(curve));
  if (loss.curves.empty()) throw gradus::IoError("plot: no loss was written down, so far");

  Chart chart{.x_title = "step", .panels = {std::move(loss)}};
  Panel exact{
      .title = "exact match, held out", .curves = curves(runs, "exact", false), .percent = true};
  if (!exact.curves.empty()) chart.panels.push_back(std::move(exact));
  for (const PlottedRun& run : runs) {
    chart.title += (chart.title.empty() ? "" : ", ") + run.name;
    chart.legend.push_back(legend_of(run));
  }
  chart.note = note_on(chart.panels);
  return chart;
}

}  // namespace examples
