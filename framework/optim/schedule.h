// Schedules: the learning rate as a factor that depends on the step, counted from 0.
//
//     const Schedule factor = schedule::then(schedule::linear_warmup(100), 100,
//     schedule::cosine(1900)); optimizer.set_lr(base_lr * factor(step));
#pragma once

#include <functional>

#include "framework/core/dtype.h"

namespace gradus {

using Schedule = std::function<double(Index step)>;

namespace schedule {

Schedule constant(double factor = 1.0);

/// (step + 1) / steps, up to 1: the first step has a rate, and step steps-1 the whole. Throws
/// ValueError for steps < 0; 0 steps are no warm-up.
Schedule linear_warmup(Index steps);

/// From 1 at step 0 down half a cosine to `floor` at step `total`, and `floor` from then on
/// (Loshchilov and Hutter, "SGDR", 2017). Throws ValueError for total < 1.
Schedule cosine(Index total, double floor = 0.0);

/// gamma^(step / size), the division rounded down. Throws ValueError for size < 1.
Schedule step(Index size, double gamma = 0.1);

/// Up a half cosine from 1 / start_divisor to 1 over the first `rise` of `total` steps, and down
/// another to 1 / (start_divisor * end_divisor) at the last (Smith, 2018, as torch's OneCycleLR).
/// Throws ValueError.
Schedule one_cycle(Index total, double rise = 0.3, double start_divisor = 25.0,
                   double end_divisor = 1e4);

/// `first` before step `change`, and from then on `second`, which counts from 0 again. Throws
/// ValueError for change < 0.
Schedule then(Schedule first, Index change, Schedule second);

/// Both factors multiplied.
Schedule product(Schedule a, Schedule b);

}  // namespace schedule
}  // namespace gradus
