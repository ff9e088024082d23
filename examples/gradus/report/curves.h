// Curves: the chart of one or several training runs, made of what they wrote down.
#pragma once

#include <string>
#include <vector>

#include "examples/gradus/records/recorded_metrics.h"
#include "examples/support/chart.h"

namespace examples {

struct PlottedRun {
  std::string name;
  RecordedMetrics metrics;
};

struct CurvesOptions {
  bool log_loss = false;
};

/// A panel of the losses, in training and, dashed, in validation, and one of the share of samples
/// that came out right, if any run has such. Throws IoError where no run has a loss to draw.
Chart curves_of(const std::vector<PlottedRun>& runs, const CurvesOptions& options = {});

}  // namespace examples
