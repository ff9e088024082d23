// Recorded metrics: what a training run wrote down as it went on, an object of JSON per line.
//
//     {"step": 20, "loss": 1.22, "lr": 0.003, "val_loss": 1.31, "exact": 0.02}
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "examples/support/thinning.h"

namespace examples {

struct RecordedMetrics {
  /// By the name of the number: its points by rising step, NaN where it was null, NaN or infinite.
  /// A step that lacks it has none.
  std::map<std::string, std::vector<Point>> series{};
  std::size_t lines = 0;
  /// What was passed over, as "line 20 is cut short: it was passed over".
  std::vector<std::string> remarks{};

  /// Empty for a number that was never written down.
  const std::vector<Point>& of(const std::string& name) const;
};

/// Reads them. A last line that is not whole, as a run leaves it that was killed, is passed over.
/// Where the steps start again at an earlier one, as a resumed run writes them, the later lines
/// count. Throws IoError that names `file` and the line for any other that cannot be read.
RecordedMetrics parse_metrics(std::string_view text, const std::string& file);

/// Of a file, or of metrics.jsonl in a folder. Throws IoError.
RecordedMetrics read_metrics(const std::filesystem::path& run);

}  // namespace examples
