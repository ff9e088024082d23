#include "framework/autograd/no_grad.h"

#include <stdexcept>
#include <thread>

#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("NoGrad: nothing is recorded") {
  const Tensor x = leaf({1, 2});
  REQUIRE(grad_enabled());
  {
    const NoGrad no_grad;
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE((x * x).requires_grad());
    CHECK_FALSE(x.view({2, 1}).requires_grad());
    CHECK(x.requires_grad());
  }
  CHECK(grad_enabled());
  CHECK((x * x).requires_grad());
}

// C082
TEST_CASE("NoGrad: inner scopes restore the outer mode") {
  const NoGrad outer;
  {
    const EnableGrad on;
    CHECK(grad_enabled());
    {
      const NoGrad inner;
      CHECK_FALSE(grad_enabled());
    }
    CHECK(grad_enabled());
    {
      const GradMode same(true);
      CHECK(grad_enabled());
    }
    CHECK(grad_enabled());
  }
  CHECK_FALSE(grad_enabled());
  { const NoGrad again; }
  CHECK_FALSE(grad_enabled());
}

TEST_CASE("NoGrad: left by an exception") {
  CHECK_THROWS_AS(
      [] {
        const NoGrad no_grad;
        zeros({2}) + zeros({3});
      }(),
      ShapeError);
  CHECK(grad_enabled());
}

TEST_CASE("NoGrad: concerns one thread") {
  const NoGrad no_grad;
  bool enabled = false;
  bool recorded = false;
  const Tensor x = leaf({1, 2});
  std::thread([&] {
    enabled = grad_enabled();
    recorded = (x * 2).requires_grad();
    const NoGrad in_the_thread;
  }).join();
  CHECK(enabled);
  CHECK(recorded);
  CHECK_FALSE(grad_enabled());
}

TEST_CASE("NoGrad: a tape made before can be run backward inside") {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * x).sum();
  const NoGrad no_grad;
  y.backward();
  CHECK_THAT(x.grad(), HasValues({2, 4}));
  CHECK_FALSE(grad_enabled());
}

TEST_CASE("NoGrad: backward and gradients put the mode back, also when they fail") {
  const Tensor x = leaf({1, 2});
  Tensor y = exp(x);
  {
    const NoGrad no_grad;
    y.zero_();
  }
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
  CHECK(grad_enabled());
  CHECK_THROWS_AS(gradients({y}, {x}, {.create_graph = false}), AutogradError);
  CHECK(grad_enabled());
  const NoGrad no_grad;
  CHECK_THROWS_AS(gradients({y}, {x}, {.create_graph = true}), AutogradError);
  CHECK_FALSE(grad_enabled());
}

// C072: an update of a parameter is no step of the tape.
TEST_CASE("NoGrad: updates in place leave the leaf a leaf and record nothing") {
  Tensor weight = leaf({1, 2});
  const Node* const node = weight.impl().node.get();
  (weight * tensor({3, 4}, float64)).sum().backward();
  const std::uint64_t before = leaf(0).impl().node->sequence();
  for (int step = 0; step < 100; ++step) {
    const NoGrad no_grad;
    weight.add_(weight.grad(), -0.01);
  }
  CHECK(leaf(0).impl().node->sequence() == before + 1);  // no step has come between
  CHECK(weight.is_leaf());
  CHECK(weight.impl().node.get() == node);
  CHECK_THAT(weight, HasValues({-2, -2}));
  CHECK_THAT(weight.grad(), HasValues({3, 4}));
}
