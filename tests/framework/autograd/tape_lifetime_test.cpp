// How long tapes live, how large they may grow, and what threads may do with them.
#include <pthread.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/autograd/trace.h"
#include "framework/core/parallel.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/dropout.h"
#include "framework/ops/linear.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "layers/attention.h"
#include "tests/support/child.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

// C133: these outlive main() with a history, and are freed after all that was made later.
Tensor global_with_history;
thread_local Tensor held_by_thread;

/// Runs `work`, which must leave Catch alone, on a thread with a stack of 512 KiB; what it throws
/// is thrown here.
void on_small_stack(std::function<void()> work) {
  struct Job {
    std::function<void()> work;
    std::exception_ptr failure;
  } job{std::move(work), nullptr};
  const auto run = [](void* argument) -> void* {
    Job& mine = *static_cast<Job*>(argument);
    try {
      mine.work();
    } catch (...) {
      mine.failure = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  const bool small = pthread_attr_setstacksize(&attributes, 512 * 1024) == 0;
  const bool started = pthread_create(&thread, &attributes, run, &job) == 0;
  if (started) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  REQUIRE(small);
  REQUIRE(started);
  if (job.failure) std::rethrow_exception(job.failure);
}

constexpr int kMillion = 1'000'000;

Tensor long_chain(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < kMillion; ++i) y = y + 1;
  return y;
}

/// Bytes that were allocated and not freed; 0 where nobody counts them.
std::size_t bytes_in_use() {
#if defined(__GLIBC__)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

}  // namespace

// C067: no recursion, in backward nor where a tape is freed.
TEST_CASE("tape lifetime: a chain of a million steps on a small stack") {
  const Tensor x = leaf(1);
  SECTION("forward, backward, freed") {
    double last = 0;
    on_small_stack([&] {
      const Tensor y = long_chain(x);
      last = y.item();
      y.backward();
    });
    CHECK(last == kMillion + 1);
    CHECK_THAT(x.grad(), HasValues(1));
  }
  SECTION("gradients, differentiable") {
    Tensor gradient;
    on_small_stack([&] { gradient = gradients({long_chain(x)}, {x}, {.create_graph = true})[0]; });
    CHECK_THAT(gradient, HasValues(1));
  }
  SECTION("dropped without backward") {
    on_small_stack([&] { long_chain(x); });
  }
  SECTION("dropped by an exception") {
    const auto build = [&] {
      const Tensor y = long_chain(x);
      throw std::runtime_error("in the middle");
    };
    CHECK_THROWS_AS(on_small_stack(build), std::runtime_error);
  }
  SECTION("with values that the steps have saved") {
    on_small_stack([&] {
      Tensor y = x;
      for (int i = 0; i < kMillion / 5; ++i) y = tanh(y);
      y.backward();
    });
    CHECK(x.grad().item() > 0);
  }
  SECTION("through views, each of the one before") {
    on_small_stack([&] {
      Tensor y = x;
      for (int i = 0; i < kMillion / 5; ++i) y = y.unsqueeze(0).squeeze(0);
      y.backward();
    });
    CHECK_THAT(x.grad(), HasValues(1));
  }
  SECTION("a gradient on the tape, and its own, dropped with all that they saved") {
    Tensor second;
    on_small_stack([&] {
      Tensor y = x;
      for (int i = 0; i < kMillion / 20; ++i) y = tanh(y);
      const Tensor first = gradients({y}, {x}, {.create_graph = true})[0];
      second = gradients({first}, {x})[0];
    });
    CHECK(second.item() < 0);
  }
  SECTION("stopped by an exception while it is built, and again in backward") {
    const auto build = [&] {
      Tensor y = x;
      for (int i = 0;; ++i) y = i < kMillion ? y + 1 : y + zeros({2, 3}).view({7});
    };
    CHECK_THROWS_AS(on_small_stack(build), ShapeError);
    const auto run = [&] {
      const HookHandle hook = x.register_hook(
          [](const Tensor&) -> Tensor { throw std::runtime_error("at the far end"); });
      try {
        long_chain(x).backward();
      } catch (...) {
        hook.remove();
        throw;
      }
    };
    CHECK_THROWS_AS(on_small_stack(run), std::runtime_error);
    CHECK_FALSE(x.grad().defined());
  }
  CHECK(x.impl().node->ref_count() == 1);
}

// C130
TEST_CASE("tape lifetime: eight threads add into one leaf") {
  const Tensor weight = leaf(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&weight] {
      for (int i = 0; i < 1000; ++i) (weight * 1).sum().backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_THAT(weight.grad(), HasValues(8000, exactly));
  CHECK(weight.impl().node->ref_count() == 1);
}

TEST_CASE("tape lifetime: eight threads hand their gradients over at the same time") {
  const Tensor weight = leaf(1);
  const Tensor one = tensor(1, float64);
  constexpr int each = 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) weight.impl().node->accumulate_gradient(one);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_THAT(weight.grad(), HasValues(8 * each, exactly));
}

TEST_CASE("tape lifetime: eight threads go back over one tape that is kept") {
  const Tensor weight = leaf({1, 2});
  const Tensor trunk = exp(weight * 0) * weight;  // its steps are shared by all
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&trunk] {
      for (int i = 0; i < 200; ++i) (trunk * 1).sum().backward({.retain_graph = true});
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_THAT(weight.grad(), HasValues({1600, 1600}, exactly));
}

TEST_CASE("tape lifetime: threads that read one model in eval get the same numbers") {
  manual_seed(1);
  MultiHeadAttention model({.d_model = 16, .n_heads = 4, .dropout = 0.5});
  model.eval();
  const Tensor x = random_normal({4, 6, 16}, 2, float32);
  const AttentionMask mask = AttentionMask::causal(6, 6) | AttentionMask::padding({6, 3, 0, 1}, 6);
  const Tensor want = model(x, x, x, mask).output.detach();
  std::vector<Tensor> found(8);
  std::vector<std::thread> threads;
  for (Tensor& place : found) {
    threads.emplace_back([&] {
      const NoGrad no_grad;
      for (int i = 0; i < 20; ++i) place = model(x, x, x, mask).output;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& output : found) CHECK_THAT(output, IsCloseTo(want, exactly));
}

TEST_CASE("tape lifetime: threads that share a model do not disturb each other") {
  const Tensor weight = random_normal({16, 16}, 1).requires_grad_();
  const auto loss = [&weight](std::uint64_t seed) {
    return softmax(matmul(random_normal({8, 16}, seed), weight), 1).max(1).values.sum();
  };
  std::vector<Tensor> want;
  for (std::uint64_t t = 0; t < 8; ++t) want.push_back(gradients({loss(t)}, {weight})[0]);
  std::vector<Tensor> found(8);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) found[t] = gradients({loss(t)}, {weight})[0];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < 8; ++t) CHECK_THAT(found[t], IsCloseTo(want[t], exactly));
}

TEST_CASE("tape lifetime: a tape may be freed on another thread") {
  const Tensor x = leaf({1, 2});
  Tensor y = exp(x) * x;
  std::thread([moved = std::move(y)]() mutable { moved = Tensor(); }).join();
  y = Tensor();
  CHECK(x.impl().node->ref_count() == 1);
}

// Run by the test below in a process of its own: it ends in the middle of everything.
TEST_CASE("tape lifetime: exits", "[.exit-child]") {
  if (!is_child()) return;
  global_with_history = softmax(exp(ones({2, 3}).requires_grad_()), 1);
  static const Tensor static_with_history = tanh(global_with_history);
  std::thread([] { held_by_thread = exp(static_with_history); }).join();
  held_by_thread = exp(static_with_history);
  const Tensor local = matmul(random_normal({300, 300}, 1), random_normal({300, 300}, 2));
  const NoGrad no_grad;
  std::exit(local.defined() ? 0 : 1);
}

// C133
TEST_CASE("tape lifetime: tapes that outlive main are freed in peace") {
  const ChildResult child = run_child("GRADUS_NUM_THREADS=4", "[.exit-child]");
  INFO(child.output);
  CHECK(child.exit_code == 0);
}

// Other ends of a process, each run by the test below: main returns, or exit() is called where the
// library is in the middle of something.
TEST_CASE("tape lifetime: main returns", "[.exit-return]") {
  if (!is_child()) return;
  global_with_history = softmax(exp(ones({2, 3}).requires_grad_()), 1);
  held_by_thread = matmul(global_with_history, global_with_history.transpose(0, 1));
  std::thread([] { held_by_thread = exp(global_with_history); }).join();
}

TEST_CASE("tape lifetime: exits in backward, in a trace", "[.exit-backward]") {
  if (!is_child()) return;
  const NanTrace trace;
  Tensor x = ones({2, 3}).requires_grad_();
  x.register_hook([](const Tensor&) -> Tensor { std::exit(0); });
  global_with_history = exp(x);
  global_with_history.sum().backward();
}

TEST_CASE("tape lifetime: exits in a chunk of a kernel", "[.exit-chunk]") {
  if (!is_child()) return;
  global_with_history = exp(ones({2, 3}).requires_grad_());
  parallel_for(64, 1, [](Index begin, Index) {
    if (begin == 0) std::exit(0);
  });
}

TEST_CASE("tape lifetime: exits while another thread works", "[.exit-busy]") {
  if (!is_child()) return;
  global_with_history = exp(ones({2, 3}).requires_grad_());
  static std::atomic<int> rounds = 0;
  std::thread([] {
    held_by_thread = tanh(global_with_history);
    for (;; ++rounds) {
      Tensor x = random_normal({100, 100}, 1).requires_grad_();
      dropout(matmul(x, x), 0.5).sum().backward();
    }
  }).detach();
  while (rounds < 3) std::this_thread::yield();
  const NoGrad no_grad;
  std::exit(0);
}

TEST_CASE("tape lifetime: every end of a process is an exit code of 0") {
  for (const char* tag :
       {"[.exit-child]", "[.exit-return]", "[.exit-backward]", "[.exit-chunk]", "[.exit-busy]"}) {
    for (const char* threads : {"1", "4"}) {
      const ChildResult child = run_child(std::string("GRADUS_NUM_THREADS=") + threads, tag);
      INFO(tag << " with " << threads << " threads\n" << child.output);
      CHECK(child.exit_code == 0);
    }
  }
}

TEST_CASE("tape lifetime: memory stays where it is over a thousand steps of training") {
  Tensor weight = random_normal({16, 32}, 1).requires_grad_();
  Tensor bias = zeros({32}, float64).requires_grad_();
  Tensor table = random_normal({32, 10}, 2).requires_grad_();
  const Tensor x = random_normal({8, 16}, 3);
  const Tensor target = tensor({0, 1, 2, 3, 4, 5, 6, 7}, int64);
  const auto step = [&] {
    Tensor h = gelu(linear(x, weight.transpose(0, 1), bias));
    h = layer_norm(dropout(h, 0.1), {32});
    const Tensor loss = cross_entropy(matmul(h, table), target, {.label_smoothing = 0.1});
    loss.backward();
    const NoGrad no_grad;
    for (Tensor* parameter : {&weight, &bias, &table}) {
      parameter->add_(parameter->grad(), -1e-3);
      parameter->zero_grad();
    }
  };
  for (int i = 0; i < 10; ++i) step();
  const std::size_t after_ten = bytes_in_use();
  for (int i = 10; i < 1000; ++i) step();
  // Allocators keep some blocks at hand, but a tensor or a step kept by each round would be more.
  CHECK(bytes_in_use() <= after_ten + 32 * 1024);
}
