// Schedules: warm-up and cosine at their ends (C099, C100), steps, one cycle, and how they are put
// together. PyTorch's tables are in tests/goldens_torch.
#include "framework/optim/schedule.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "framework/core/error.h"
#include "framework/optim/sgd.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// base * schedule for the first steps.
Tensor rates(const Schedule& schedule, Index steps, double base = 1.0) {
  std::vector<double> all;
  for (Index step = 0; step < steps; ++step) all.push_back(base * schedule(step));
  return from_vector(all);
}

/// Up in `warmup` steps, and down a cosine to 0 at `total`.
Schedule up_and_down(Index warmup, Index total) {
  return schedule::then(schedule::linear_warmup(warmup), warmup, schedule::cosine(total - warmup));
}

constexpr Index kFarAway = std::numeric_limits<Index>::max();

}  // namespace

TEST_CASE("C099: a warm-up gives the first step a rate, and reaches the peak",
          "[schedule][cases]") {
  CHECK_THAT(rates(schedule::linear_warmup(4), 6), HasValues({0.25, 0.5, 0.75, 1, 1, 1}, exactly));
  CHECK_THAT(rates(schedule::linear_warmup(0), 3), HasValues({1, 1, 1}, exactly));
  CHECK_THAT(rates(schedule::linear_warmup(1), 3), HasValues({1, 1, 1}, exactly));
  CHECK(schedule::linear_warmup(4)(kFarAway) == 1);
  CHECK(error_text<ValueError>([] { schedule::linear_warmup(-1); }) ==
        "schedule: linear_warmup needs at least 0 steps, not -1");
}

TEST_CASE("C099: a warm-up and a cosine stay within 0 and 1", "[schedule][cases]") {
  for (const Index warmup : {0, 4, 9}) {
    const Schedule schedule = up_and_down(warmup, 10);
    for (Index step = 0; step < 15; ++step) {
      INFO("warm-up " << warmup << ", step " << step);
      CHECK(schedule(step) >= 0);
      CHECK(schedule(step) <= 1);
    }
    CHECK(schedule(warmup) == 1);
    CHECK(schedule(10) == Catch::Approx(0).margin(1e-15));
  }
  CHECK(error_text<ValueError>([] { up_and_down(10, 10); }) ==
        "schedule: cosine needs at least 1 steps, not 0");
  CHECK(error_text<ValueError>([] { up_and_down(12, 10); }) ==
        "schedule: cosine needs at least 1 steps, not -2");
}

TEST_CASE("C100: a cosine ends at its floor, and stays there", "[schedule][cases]") {
  CHECK_THAT(rates(schedule::cosine(5), 8, 0.5),
             HasValues({0.5, 0.45225, 0.32725, 0.17275, 0.04775, 0, 0, 0}, Tolerance{0, 1e-5}));
  CHECK_THAT(rates(schedule::cosine(2, 0.1), 5), HasValues({1, 0.55, 0.1, 0.1, 0.1}));
  CHECK(schedule::cosine(5, 0.25)(kFarAway) == 0.25);
  CHECK(error_text<ValueError>([] { schedule::cosine(0); }) ==
        "schedule: cosine needs at least 1 steps, not 0");
}

TEST_CASE("a step schedule falls at every multiple of its size", "[schedule]") {
  CHECK_THAT(rates(schedule::step(2, 0.5), 7), HasValues({1, 1, 0.5, 0.5, 0.25, 0.25, 0.125}));
  CHECK_THAT(rates(schedule::step(3), 4), HasValues({1, 1, 1, 0.1}));
  CHECK_THAT(rates(schedule::step(1, 0.5), 3), HasValues({1, 0.5, 0.25}));  // ExponentialLR
  CHECK(error_text<ValueError>([] { schedule::step(0); }) ==
        "schedule: step needs at least 1 steps, not 0");
}

// torch.optim.lr_scheduler.OneCycleLR(max_lr=1, total_steps=10, pct_start=0.3): its first phase
// ends at step 0.3 * 10 - 1 = 2, its second at step 9.
TEST_CASE("one cycle rises and falls as PyTorch's does", "[schedule]") {
  const auto eased = [](double from, double to, double share) {
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
  };
  const Schedule schedule = schedule::one_cycle(10);
  for (Index step = 0; step <= 12; ++step) {
    const double t = std::min(static_cast<double>(step), 9.0);
    const double want = t < 2 ? eased(0.04, 1, t / 2) : eased(1, 0.04e-4, (t - 2) / 7);
    INFO("step " << step);
    CHECK(schedule(step) == Catch::Approx(want).epsilon(1e-12));
  }
  CHECK(schedule(0) == Catch::Approx(0.04));
  CHECK(schedule(2) == 1);
  CHECK(schedule(9) == Catch::Approx(4e-6));
  CHECK(schedule(kFarAway) == Catch::Approx(4e-6));
}

TEST_CASE("one cycle of few steps, and of one phase only", "[schedule]") {
  CHECK_THAT(rates(schedule::one_cycle(1), 3), HasValues({1, 1, 1}));
  CHECK_THAT(rates(schedule::one_cycle(3, 0.0, 25, 1), 4), HasValues({1, 0.52, 0.04, 0.04}));
  CHECK_THAT(rates(schedule::one_cycle(3, 1.0, 25, 1), 4), HasValues({0.04, 0.52, 1, 1}));
  CHECK(error_text<ValueError>([] { schedule::one_cycle(0); }) ==
        "schedule: one_cycle needs at least 1 steps, not 0");
  CHECK(error_text<ValueError>([] { schedule::one_cycle(5, 1.5); }) ==
        "schedule: one_cycle needs a rise in 0..1 and divisors above 0, not 1.5, 25 and 10000");
  CHECK(error_text<ValueError>([] { schedule::one_cycle(5, 0.3, 0); }) ==
        "schedule: one_cycle needs a rise in 0..1 and divisors above 0, not 0.3, 0 and 10000");
}

TEST_CASE("schedules follow one another and multiply", "[schedule]") {
  const Schedule halves = schedule::then(schedule::constant(3), 2, schedule::step(1, 0.5));
  CHECK_THAT(rates(halves, 5), HasValues({3, 3, 1, 0.5, 0.25}));
  CHECK_THAT(rates(schedule::then(schedule::constant(3), 0, schedule::constant()), 2),
             HasValues({1, 1}));
  CHECK_THAT(rates(schedule::product(halves, schedule::linear_warmup(4)), 5),
             HasValues({0.75, 1.5, 0.75, 0.5, 0.25}));
  const Schedule own = [](Index step) { return step % 2 == 0 ? 1.0 : 0.5; };
  CHECK_THAT(rates(schedule::product(own, schedule::constant(2)), 3), HasValues({2, 1, 2}));
}

TEST_CASE("a schedule drives an optimiser", "[schedule]") {
  Tensor theta = leaf({0});
  SGD sgd({theta}, {.lr = 0.4});
  const Schedule factor = schedule::linear_warmup(4);
  for (Index step = 0; step < 3; ++step) {
    sgd.set_lr(0.4 * factor(step));
    theta.set_grad(tensor({1}, float64));
    sgd.step();
  }
  CHECK_THAT(theta, HasValues({-0.6}));
}
