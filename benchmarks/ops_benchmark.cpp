// Single ops: the overhead of the smallest, and the throughput of those that attention leans on.
#include <benchmark/benchmark.h>

#include <gradus/gradus.h>

namespace {

/// A 2x2 addition, recorded and differentiated: nothing but overhead.
void add_overhead(benchmark::State& state) {
  const gradus::Tensor x = gradus::ones({2, 2}).requires_grad_();
  for (auto _ : state) {
    gradus::Tensor y = x;
    for (int i = 0; i < 100; ++i) y = y + x;
    y.backward({.gradient = gradus::ones({2, 2})});
    x.zero_grad();
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(add_overhead);

void matmul_square(benchmark::State& state) {
  const gradus::Index n = state.range(0);
  const gradus::Tensor a = gradus::randn({n, n});
  const gradus::Tensor b = gradus::randn({n, n});
  for (auto _ : state) benchmark::DoNotOptimize(gradus::matmul(a, b));
  state.counters["FLOP/s"] = benchmark::Counter(2.0 * static_cast<double>(n * n * n),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(matmul_square)->Arg(16)->Arg(64)->Arg(256)->Arg(512);

void softmax_rows(benchmark::State& state) {
  const gradus::Tensor x = gradus::randn({state.range(0), state.range(1)});
  for (auto _ : state) benchmark::DoNotOptimize(gradus::softmax(x, -1));
  state.SetBytesProcessed(state.iterations() * x.numel() * 8);
}
BENCHMARK(softmax_rows)->Args({64, 16})->Args({1024, 64})->Args({4096, 256});

void layer_norm_rows(benchmark::State& state) {
  const gradus::Tensor x = gradus::randn({state.range(0), state.range(1)});
  for (auto _ : state) benchmark::DoNotOptimize(gradus::layer_norm(x, {state.range(1)}));
  state.SetBytesProcessed(state.iterations() * x.numel() * 8);
}
BENCHMARK(layer_norm_rows)->Args({64, 32})->Args({768, 128})->Args({2048, 384});

}  // namespace
