// Multi-head attention, forward and backward: the composed layer with a causal mask, x wanting a
// gradient, at sizes from a toy, where overhead is all, to one bound by matrix products.
#include <array>

#include <benchmark/benchmark.h>

#include <gradus/gradus.h>

namespace {

void attention_forward_backward(benchmark::State& state) {
  const auto [batch, length, width, heads] =
      std::array{state.range(0), state.range(1), state.range(2), state.range(3)};
  const gradus::MultiHeadAttention attention({.d_model = width, .n_heads = heads});
  const gradus::Tensor x = gradus::randn({batch, length, width}).requires_grad_();
  const auto mask = gradus::AttentionMask::causal(length, length);
  for (auto _ : state) {
    attention.zero_grad();
    x.zero_grad();
    attention(x, x, x, mask).output.sum().backward();
  }
}
BENCHMARK(attention_forward_backward)
    ->ArgNames({"batch", "length", "width", "heads"})
    ->Args({2, 4, 8, 2})
    ->Args({8, 16, 32, 4})
    ->Args({32, 32, 64, 4})
    ->Args({12, 64, 128, 4})
    ->Args({8, 256, 384, 6})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
