// Memory of a step in its steady state: how often it calls malloc, and the most bytes that it and
// all it works on (parameters, moments, inputs) had at once. Run a row by itself: what a library
// keeps from the rows before would not count.
#include "allocations.h"
#include "measure.h"

namespace {

constexpr int kSteps = 5;

double calls_per_step(const CountAllocations& counted, const work::Step& step) {
  const std::int64_t before = counted.calls();
  step();
  return static_cast<double>(counted.calls() - before);
}

measure::Measurement measured(const std::function<work::Step()>& make) {
  return [=](benchmark::State& state) {
    if (!CountAllocations::available()) return state.SkipWithError("cannot count here");
    const CountAllocations counted;
    const work::Step step = make();
    for (int i = 0; i < kSteps; ++i) step();
    state.counters["mallocs"] = calls_per_step(counted, step);
    state.counters["peak_bytes"] = static_cast<double>(counted.peak_bytes());
    for (auto _ : state) step();
  };
}

void add_row(const std::string& name, const std::function<work::Step()>& make) {
  measure::add_row("memory/" + name, measured(make))->Iterations(1);
}

bool add_rows() {
  add_row("attention/2x4x8x2", [] { return work::attention_step({2, 4, 8, 2}); });
  add_row("attention/8x256x384x6", [] { return work::attention_step({8, 256, 384, 6}); });
  add_row("attention/1x8192x64x1/no_weights", [] {
    return work::attention_step({1, 8192, 64, 1, false, 0.0, /*need_weights=*/false});
  });
  add_row("gpt/toy", [] { return work::gpt_step(work::kToy); });
  add_row("gpt/nano", [] { return work::gpt_step(work::kNano); });
  add_row("gpt/baby", [] { return work::gpt_step(work::kBaby); });
  return true;
}

[[maybe_unused]] const bool added = add_rows();

}  // namespace
