// Step: what is known of one step of training, for those who watch it or write it down.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/gradus/data/dataset.h"

namespace examples {

/// The gradient's norm over the parameters of one kind: "W_Q", 0.08.
using GroupNorms = std::vector<std::pair<std::string, double>>;

struct Step {
  Index number = 0;  ///< from 1
  double loss = 0.0;
  double lr = 0.0;
  double gradient_norm = 0.0;  ///< before clipping
  bool clipped = false;
  Index tokens = 0;      ///< that were read
  double seconds = 0.0;  ///< that the run has taken so far, over all its sittings
  // Of some steps only.
  double kept_bytes = 0.0;  ///< by the tape, for backward
  GroupNorms groups{};
  std::optional<Evaluation> evaluation{};
};

class StepListener {
 public:
  virtual ~StepListener() = default;
  virtual void on_step(const Step& step) = 0;
};

}  // namespace examples
