// Smoothed: the mean of a noisy series in which older values count less and less.
#pragma once

namespace examples {

class Smoothed {
 public:
  /// Of two neighbours the older one counts `decay` times as much.
  explicit Smoothed(double decay) : decay_(decay) {}

  void add(double value) {
    sum_ = decay_ * sum_ + value;
    weight_ = decay_ * weight_ + 1.0;
  }
  /// Divided by the weights so far, so that it does not start near 0 (bias-corrected). NaN before
  /// the first value.
  double value() const { return sum_ / weight_; }
  bool has_value() const { return weight_ > 0.0; }

 private:
  double decay_;
  double sum_ = 0.0;
  double weight_ = 0.0;
};

}  // namespace examples
