// How a row is registered and timed.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

#include <benchmark/benchmark.h>

#include "work.h"

namespace measure {

/// Threads that the whole program was asked to use: BENCHMARK_THREADS, else 1.
inline int threads() {
  const char* asked = std::getenv("BENCHMARK_THREADS");
  return asked ? std::atoi(asked) : 1;
}

using Measurement = std::function<void(benchmark::State&)>;

/// Wall-clock time, since work may be spread over threads.
inline benchmark::internal::Benchmark* add_row(const std::string& name,
                                               const Measurement& measurement) {
  return benchmark::RegisterBenchmark(name.c_str(), measurement)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

/// Times a step. The first one is not counted: it touches fresh memory.
inline void run(benchmark::State& state, const work::Step& step) {
  if (!step) {
    state.SkipWithError("not offered");
    return;
  }
  step();
  for (auto _ : state) step();
}

/// The same, of a step made by `make`, with a rate per second of `amount` per step.
inline Measurement timed(const std::function<work::Step()>& make, const std::string& rate = "",
                         double amount = 0.0) {
  return [=](benchmark::State& state) {
    run(state, make());
    if (!rate.empty()) {
      state.counters[rate] =
          benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
    }
  };
}

}  // namespace measure
