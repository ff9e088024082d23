// How long tapes live, how large they may grow, and what threads may do with them.
#include <pthread.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/dropout.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
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
