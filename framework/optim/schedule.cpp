#include "framework/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/core/error.h"

namespace gradus::schedule {
namespace {

void check_steps(const char* name, Index steps, Index least) {
  if (steps < least) {
    throw ValueError(text("schedule: ", name, " needs at least ", least, " steps, not ", steps));
  }
}

/// Half a cosine from `from` to `to`, for a share of the way in 0..1.
double eased(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

}  // namespace

Schedule constant(double factor) {
  return [factor](Index) { return factor; };
}

Schedule linear_warmup(Index steps) {
  check_steps("linear_warmup", steps, 0);
  return [steps](Index step) {
    if (step >= steps) return 1.0;
    return static_cast<double>(step + 1) / static_cast<double>(steps);
  };
}

Schedule cosine(Index total, double floor) {
  check_steps("cosine", total, 1);
  return [total, floor](Index step) {
    const double share = static_cast<double>(std::min(step, total)) / static_cast<double>(total);
    return eased(1.0, floor, share);
  };
}

Schedule step(Index size, double gamma) {
  check_steps("step", size, 1);
  return [size, gamma](Index n) { return std::pow(gamma, static_cast<double>(n / size)); };
}

Schedule one_cycle(Index total, double rise, double start_divisor, double end_divisor) {
  check_steps("one_cycle", total, 1);
  if (!(rise >= 0 && rise <= 1 && start_divisor > 0 && end_divisor > 0)) {
    throw ValueError(text("schedule: one_cycle needs a rise in 0..1 and divisors above 0, not ",
                          rise, ", ", start_divisor, " and ", end_divisor));
  }
  const double last = static_cast<double>(total - 1);
  const double peak = std::max(0.0, rise * static_cast<double>(total) - 1);
  const double start = 1 / start_divisor;
  return [=](Index step) {
    const double at = std::min(static_cast<double>(step), last);
    if (at < peak) return eased(start, 1.0, at / peak);
    return last > peak ? eased(1.0, start / end_divisor, (at - peak) / (last - peak)) : 1.0;
  };
}

Schedule then(Schedule first, Index change, Schedule second) {
  check_steps("then", change, 0);
  return [first = std::move(first), change, second = std::move(second)](Index step) {
    return step < change ? first(step) : second(step - change);
  };
}

Schedule product(Schedule a, Schedule b) {
  return [a = std::move(a), b = std::move(b)](Index step) { return a(step) * b(step); };
}

}  // namespace gradus::schedule
