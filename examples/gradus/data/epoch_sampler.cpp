#include "examples/gradus/data/epoch_sampler.h"

#include "examples/support/number.h"
#include "framework/core/error.h"

namespace examples {

EpochSampler::EpochSampler(std::int64_t count, std::uint64_t seed)
    : count_(count), generator_(seed) {
  draw_order();
}

void EpochSampler::draw_order() {
  before_epoch_ = generator_;
  order_ = generator_.permutation(count_);
  place_ = 0;
}

std::int64_t EpochSampler::next() {
  if (place_ == order_.size()) draw_order();
  return order_[place_++];
}

std::string EpochSampler::state() const { return gradus::text(place_, " ", before_epoch_.state()); }

void EpochSampler::set_state(const std::string& state) {
  const std::size_t blank = state.find(' ');
  const auto place = read_number<std::size_t>(state.substr(0, blank), 0, order_.size());
  if (!place || blank == std::string::npos) {
    throw gradus::IoError(
        gradus::text("resume: the place in the data is not one of ", count_, " samples"));
  }
  generator_.set_state(state.substr(blank + 1));
  draw_order();
  place_ = *place;
}

}  // namespace examples
