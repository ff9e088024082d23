#include "framework/autograd/backward.h"

#include <vector>

#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

// C063: a step runs when all its consumers have delivered, and once.
TEST_CASE("backward: shared sub-expressions") {
  SECTION("used by two steps of different depth") {
    const Tensor x = leaf(3);
    const Tensor a = 2 * x;
    const Tensor b = a * a;
    (a + b).backward();
    CHECK_THAT(x.grad(), HasValues(26));
  }
  SECTION("a product of products") {
    const Tensor x = leaf(1);
    const Tensor a = x;
    (2 * x * (x * a) + x * x * a).backward();
    CHECK_THAT(x.grad(), HasValues(9));
    const Tensor y = leaf(1);
    const Tensor b = leaf(1);
    (2 * y * (y * b) + y * y * b).backward();
    CHECK_THAT(y.grad(), HasValues(6));
    CHECK_THAT(b.grad(), HasValues(3));
  }
  SECTION("two uses of one result") {
    const Tensor x = leaf(2);
    const Tensor y = 3 * x;
    (2 * y + 5 * y).backward();
    CHECK_THAT(x.grad(), HasValues(21));
  }
  SECTION("one factor twice") {
    const Tensor w = leaf(3);
    const Tensor x = leaf(2);
    (x * w * w).backward();
    CHECK_THAT(w.grad(), HasValues(12));
    CHECK_THAT(x.grad(), HasValues(9));
  }
  SECTION("three times in one sum") {
    const Tensor x = leaf(5);
    (x + x + x).backward();
    CHECK_THAT(x.grad(), HasValues(3));
  }
  SECTION("near the loss and far from it") {
    const Tensor x = leaf(0.5);
    Tensor far = x;
    for (int i = 0; i < 10; ++i) far = far * 2;
    (far + x).backward();
    CHECK_THAT(x.grad(), HasValues(1025));
  }
  SECTION("steps recorded in another order than they are used") {
    const Tensor x = leaf(2);
    const Tensor late = x * x;
    const Tensor early = exp(x * 0);
    const Tensor joined = early * late + late;
    (joined * early).backward();  // x^2 (e^0 + 1) e^0
    CHECK_THAT(x.grad(), HasValues(8));
  }
}

// C064: without a set of the visited this takes 2^40 visits.
TEST_CASE("backward: each step is visited once") {
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < 40; ++i) y = y + y;
  const auto start = std::chrono::steady_clock::now();
  y.backward();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  CHECK_THAT(x.grad(), HasValues(1099511627776.0, exactly));
  Tensor z = x;
  for (int i = 0; i < 40; ++i) z = z + z;
  CHECK_THAT(gradients({z}, {x})[0], HasValues(1099511627776.0, exactly));
}

TEST_CASE("backward: a hundred thousand leaves wait for their turn") {
  std::vector<Tensor> leaves;
  for (int i = 0; i < 100'000; ++i) leaves.push_back(leaf(i));
  Tensor sum = leaves[0] * 2;
  for (std::size_t i = 1; i < leaves.size(); ++i) sum = sum + leaves[i];
  sum.backward();
  CHECK_THAT(leaves.front().grad(), HasValues(2));
  CHECK_THAT(leaves.back().grad(), HasValues(1));
}

TEST_CASE("backward: gradients add up over calls") {
  const Tensor x = leaf({1, 2});
  (x * 2).sum().backward();
  (x * x).sum().backward();
  CHECK_THAT(x.grad(), HasValues({4, 6}));
}

TEST_CASE("backward: from a tensor of many numbers, with a gradient of its own") {
  const Tensor x = leaf({1, 2, 3});
  (x * x).backward({.gradient = tensor({1, 10, 100}, float64)});
  CHECK_THAT(x.grad(), HasValues({2, 40, 600}));
  const Tensor one_number = (leaf({{1}}) * 2);
  CHECK_NOTHROW(one_number.backward());
}

TEST_CASE("backward: a strided or expanded gradient") {
  const Tensor x = leaf({{1, 2}, {3, 4}});
  (x * 2).backward({.gradient = tensor({{1, 2}, {3, 4}}, float64).transpose(0, 1)});
  CHECK_THAT(x.grad(), HasValues({{2, 6}, {4, 8}}));
  x.zero_grad();
  (x + 0).backward({.gradient = ones({1, 1}, float64).expand({2, 2})});
  CHECK_THAT(x.grad(), HasValues({{1, 1}, {1, 1}}));
  Tensor gradient = x.grad();
  CHECK_NOTHROW(gradient.mul_(2));  // it has memory for each of its elements
}

TEST_CASE("backward: what it cannot start from") {
  const Tensor x = leaf({{1, 2}, {3, 4}});
  CHECK(error_text<AutogradError>([&] { softmax(x, 1).backward(); }) ==
        "backward: needs a single number, this tensor has 4\n"
        "  got    (2, 2) float64, from softmax\n"
        "  hint   mean().backward() for training; backward({.gradient = g}) for a vector-Jacobian "
        "product");
  CHECK(error_text<AutogradError>([] { ones({1}).backward(); }) ==
        "backward: this tensor is not on a tape\n"
        "  got    (1,) float32, requires no gradient\n"
        "  hint   call requires_grad_() on the inputs, and leave NoGrad scopes");
  CHECK(error_text<ShapeError>([&] { (x * 2).backward({.gradient = ones({2}, float64)}); }) ==
        "backward: the gradient does not fit the tensor\n"
        "  got    gradient (2,), tensor (2, 2)");
  CHECK(error_text<DTypeError>([&] {
          (x * 2).backward({.gradient = ones({2, 2})});
        }) == "backward: a float32 gradient for a float64 tensor");
  CHECK_FALSE(x.grad().defined());
}

// C066
TEST_CASE("backward: a second time over one tape") {
  const Tensor x = leaf(2);
  const Tensor y = x * x;
  y.backward();
  CHECK_THAT(x.grad(), HasValues(4));
  CHECK(error_text<AutogradError>([&] { y.backward(); }) ==
        "backward: this tape was used already, and its saved tensors released\n"
        "  got    at step mul ()\n"
        "  hint   detach() a state that is carried from step to step; "
        "{.retain_graph = true} for two losses on one tape");
  CHECK_THAT(x.grad(), HasValues(4));
  CHECK_THROWS_AS(gradients({y}, {x}), AutogradError);
}

TEST_CASE("backward: two losses on one trunk") {
  const Tensor x = leaf(2);
  const Tensor h = 3 * x;
  const Tensor first = h.sum();
  const Tensor second = (h * h).sum();
  SECTION("with the tape kept") {
    first.backward({.retain_graph = true});
    second.backward();
    CHECK_THAT(x.grad(), HasValues(39));
  }
  SECTION("without, the second one fails by name") {
    first.backward();
    CHECK_THROWS_AS(second.backward(), AutogradError);
  }
}

TEST_CASE("backward: over a kept tape gives the same again") {
  const Tensor x = leaf({1, 2});
  const Tensor y = (exp(x) * x).sum();
  y.backward({.retain_graph = true});
  const Tensor once = x.grad().clone();
  y.backward({.retain_graph = true});
  CHECK_THAT(x.grad(), IsCloseTo(once * 2));
}
