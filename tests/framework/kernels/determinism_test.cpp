// Same seed, same bits, for any number of threads.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "framework/autograd/backward.h"
#include "framework/core/parallel.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/dropout.h"
#include "framework/ops/extreme.h"
#include "framework/ops/indexing.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/support/child.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"
#include "tests/support/thread_count.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> function;
  Shape shape;
};

/// 1000 numbers below 50.
Tensor many_indices() {
  std::vector<Index> indices(1000);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<Index>(i * i % 50);
  return from_vector(indices);
}

// Each is large enough to be cut into many chunks.
std::vector<Row> rows() {
  return {
      {"matmul", [](const Tensor& x) { return matmul(x, x.transpose(0, 1)); }, {300, 200}},
      {"matmul of a stack",
       [](const Tensor& x) { return matmul(x, x.transpose(-2, -1)); },
       {40, 33, 65}},
      {"sum of all", [](const Tensor& x) { return sum(x); }, {1000003}},
      {"sum of rows", [](const Tensor& x) { return sum(x, {1}); }, {500, 401}},
      {"sum of columns", [](const Tensor& x) { return sum(x, {0}); }, {401, 500}},
      {"mean over axes apart",
       [](const Tensor& x) {
         return mean(x, {0, 2});
       },
       {40, 50, 60}},
      {"max", [](const Tensor& x) { return max(x, 1).values; }, {500, 401}},
      {"softmax", [](const Tensor& x) { return softmax(x, 1); }, {500, 401}},
      {"softmax over the first axis", [](const Tensor& x) { return softmax(x, 0); }, {401, 500}},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 1); }, {500, 401}},
      {"layer_norm", [](const Tensor& x) { return layer_norm(x, {401}); }, {500, 401}},
      {"dropout", [](const Tensor& x) { return dropout_with_key(x, 0.3, 42); }, {100003}},
      {"gelu", [](const Tensor& x) { return gelu(x); }, {100003}},
      {"a broadcast sum", [](const Tensor& x) { return x + x.slice(0, 0, 1) * 2; }, {300, 400}},
      {"a transposed copy",
       [](const Tensor& x) { return x.transpose(0, 1).contiguous(); },
       {300, 400}},
      {"attention",
       [](const Tensor& x) { return scaled_dot_product_attention(x, x, x, {.is_causal = true}); },
       {2, 3, 200, 16}},
      {"attention of grouped heads, with dropout",
       [](const Tensor& x) {
         manual_seed(1);
         const Tensor shared = x.slice(1, 0, 2);
         return scaled_dot_product_attention(x, shared, shared,
                                             {.dropout_p = 0.3, .enable_gqa = true});
       },
       {1, 6, 150, 16}},
      {"embedding", [](const Tensor& x) { return embedding(many_indices(), x); }, {50, 400}},
  };
}

std::vector<Tensor> results(const Row& row, const Tensor& x) {
  const Tensor y = row.function(x);
  const Tensor g = random_normal(y.shape(), 3, y.dtype());
  return {y.detach(), gradients({y}, {x}, {.grad_outputs = {g}})[0]};
}

}  // namespace

TEST_CASE("determinism: values and gradients do not depend on the number of threads") {
  const DType dtype = GENERATE(float32, float64);
  for (const Row& row : rows()) {
    const Tensor x = random_normal(row.shape, 1, dtype).requires_grad_();
    const ThreadCount one(1);
    const std::vector<Tensor> want = results(row, x);
    for (const int count : {2, 3, 8}) {
      const ThreadCount threads(count);
      INFO(row.name << " of " << dtype << " with " << count << " threads");
      const std::vector<Tensor> got = results(row, x);
      CHECK_THAT(got[0], IsCloseTo(want[0], exactly));
      CHECK_THAT(got[1], IsCloseTo(want[1], exactly));
    }
  }
}

TEST_CASE("determinism: a step of training does not depend on the number of threads") {
  const auto train = [](int count) {
    const ThreadCount threads(count);
    manual_seed(5);
    const Tensor weight = randn({256, 128}).requires_grad_();
    const Tensor x = randn({300, 256});
    const Tensor target = randint(0, 128, {300});
    const Tensor h = dropout(matmul(x, weight) * 0.1, 0.2);
    cross_entropy(layer_norm(h, {128}), target).backward();
    return weight.grad();
  };
  const Tensor want = train(1);
  for (const int count : {2, 3, 8}) CHECK_THAT(train(count), IsCloseTo(want, exactly));
}

// C132: users have threads of their own; one of them gets the pool, the others do their work alone.
TEST_CASE("determinism: kernels called from several threads at once") {
  const ThreadCount threads(4);
  const Tensor x = random_normal({256, 256}, 1, float32);
  const Tensor want = matmul(x, x);
  std::vector<Tensor> found(8);
  std::vector<std::thread> users;
  for (Tensor& place : found) {
    users.emplace_back([&x, &place] {
      for (int i = 0; i < 5; ++i) place = matmul(x, x);
    });
  }
  for (std::thread& user : users) user.join();
  for (const Tensor& product : found) CHECK_THAT(product, IsCloseTo(want, exactly));
}

TEST_CASE("determinism: eight users' products are right with any number of threads") {
  const Tensor x = random_normal({256, 256}, 1);
  const Tensor y = random_normal({256, 256}, 2);
  const Tensor square = matmul(x, y);
  for (Index i = 0; i < 256; i += 51) {  // against the definition
    CHECK_THAT(square[i], IsCloseTo(sum(x[i].unsqueeze(1) * y, {0})));
  }
  for (const int count : {1, 2, 8}) {
    const ThreadCount threads(count);
    std::vector<Tensor> found(8);
    std::vector<std::thread> users;
    for (Tensor& place : found) {
      users.emplace_back([&] {
        Tensor left = x.clone().requires_grad_();
        const Tensor product = matmul(left, y);
        place = gradients({product}, {left}, {.grad_outputs = {x}})[0] + product.detach();
      });
    }
    for (std::thread& user : users) user.join();
    const Tensor want = matmul(x, y.transpose(0, 1)) + square;
    for (const Tensor& product : found) CHECK_THAT(product, IsCloseTo(want, exactly));
  }
}

// Run by the test below: a process whose pool has threads forks, and the other has none of them.
TEST_CASE("determinism: forks", "[.fork-child]") {
  if (!is_child()) return;
  const ThreadCount threads(3);
  const Tensor x = random_normal({256, 256}, 1);
  const Tensor want = matmul(x, x);
  const pid_t child = fork();
  if (child == 0) {
    bool same = true;
    for (int i = 0; i < 5; ++i) same = same && difference(matmul(x, x), want, exactly).empty();
    _exit(same ? 0 : 1);
  }
  REQUIRE(child > 0);
  CHECK_THAT(matmul(x, x), IsCloseTo(want, exactly));
  int status = -1;
  for (int i = 0; i < 200 && waitpid(child, &status, WNOHANG) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (status == -1) kill(child, SIGKILL);
  CHECK(status == 0);
}

TEST_CASE("determinism: kernels work on in a process that was forked") {
  const ChildResult child = run_child("GRADUS_NUM_THREADS=3", "[.fork-child]");
  INFO(child.output);
  CHECK(child.exit_code == 0);
}
