#include <algorithm>
#include <chrono>

#include "examples/gradus/doctor/finding.h"
#include "examples/support/format.h"
#include "framework/autograd/no_grad.h"
#include "framework/core/parallel.h"
#include "framework/ops/creation.h"
#include "framework/ops/matmul.h"

namespace examples {

using gradus::Index;

Finding measure_speed() {
  using Clock = std::chrono::steady_clock;
  constexpr Index kSize = 512;
  constexpr int kTrials = 8;
  const gradus::NoGrad no_grad;
  const gradus::Tensor a = gradus::ones({kSize, kSize});
  double seconds = 1e9;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Clock::time_point start = Clock::now();
    matmul(a, a);
    seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  const double operations = 2.0 * kSize * kSize * kSize;
  const int threads = gradus::num_threads();
  return {"speed", Verdict::well,
          format("%.1f GFLOP/s in a product of 512 x 512, float32, %d thread%s",
                 1e-9 * operations / seconds, threads, threads == 1 ? "" : "s")};
}

}  // namespace examples
