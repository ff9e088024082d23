// EpochSampler: the numbers 0 .. count-1 in random order, and then again in another one, for ever.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/core/random.h"

namespace examples {

class EpochSampler {
 public:
  /// `count` must not be 0.
  EpochSampler(std::int64_t count, std::uint64_t seed);

  std::int64_t next();
  /// The place in the epoch, and what its order was drawn from.
  std::string state() const;
  /// Throws IoError for any other text than that of state().
  void set_state(const std::string& state);

 private:
  void draw_order();

  std::int64_t count_;
  gradus::Generator generator_;
  gradus::Generator before_epoch_;
  std::vector<std::int64_t> order_;
  std::size_t place_ = 0;
};

}  // namespace examples
