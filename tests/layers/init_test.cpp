// Init: draws of torch.nn.init, in place and off the tape.
#include "layers/init.h"

#include <cmath>
#include <functional>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/extreme.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "layers/linear.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("init draws what uniform and randn draw, from either generator", "[init]") {
  Generator generator(42);
  Tensor x = zeros({4, 5});
  init::uniform_(x, -2.0, 3.0, &generator);
  generator.manual_seed(42);
  CHECK_THAT(x, IsCloseTo(uniform({4, 5}, -2.0, 3.0, float32, &generator), exactly));
  manual_seed(42);
  init::uniform_(x, -2.0, 3.0);
  manual_seed(42);
  CHECK_THAT(x, IsCloseTo(uniform({4, 5}, -2.0, 3.0), exactly));

  init::normal_(x, 1.0, 0.5, &generator);
  CHECK(x.dtype() == float32);
  Tensor y = zeros({4, 5}, float64);
  generator.manual_seed(3);
  init::normal_(y, 1.0, 0.5, &generator);
  generator.manual_seed(3);
  CHECK_THAT(y, IsCloseTo(randn({4, 5}, float64, &generator) * 0.5 + 1.0, exactly));

  // Fewer than 16 are drawn in double: torch.manual_seed(42); torch.randn(2).
  manual_seed(42);
  Tensor few = zeros({2});
  CHECK_THAT(init::normal_(few), HasValues({0.3366904, 0.1288094}));
  CHECK_THAT(init::constant_(few, 7.0), HasValues({7, 7}, exactly));
}

TEST_CASE("init fills parameters in place, and leaves them leaves", "[init]") {
  Linear linear(3, 2);
  Tensor handle = linear.weight;
  init::constant_(linear.weight, 3.0);
  CHECK(handle.is_same(linear.weight));
  CHECK(handle.requires_grad());
  CHECK(handle.is_leaf());
  CHECK_THAT(handle.detach(), IsCloseTo(full({2, 3}, 3.0), exactly));

  Tensor strided = zeros({3, 2}).transpose(0, 1);
  init::uniform_(strided, 1.0, 2.0);
  CHECK(strided.sum().item() >= 6.0);
}

TEST_CASE("init spreads by the fans of a weight", "[init]") {
  struct Case {
    std::function<void(Tensor&)> fill;
    double deviation;
    bool even;
  };
  // (out, in, field): fan_in 30 * 10, fan_out 20 * 10.
  const std::vector<Case> cases{
      {[](Tensor& x) { init::xavier_uniform_(x); }, std::sqrt(2.0 / 500), true},
      {[](Tensor& x) { init::xavier_uniform_(x, 3.0); }, 3 * std::sqrt(2.0 / 500), true},
      {[](Tensor& x) { init::xavier_normal_(x, 3.0); }, 3 * std::sqrt(2.0 / 500), false},
      {[](Tensor& x) { init::kaiming_uniform_(x); }, std::sqrt(2.0 / 300), true},
      {[](Tensor& x) { init::kaiming_uniform_(x, std::sqrt(5.0)); }, std::sqrt(1.0 / 900), true},
      {[](Tensor& x) { init::kaiming_normal_(x, 0.0, init::FanMode::fan_out); },
       std::sqrt(2.0 / 200), false},
  };
  for (const Case& one : cases) {
    manual_seed(1);
    Tensor x = zeros({20, 30, 10}, float64);
    one.fill(x);
    CHECK(mean(x).item() == Catch::Approx(0.0).margin(0.05 * one.deviation));
    CHECK(std::sqrt(mean(x * x).item()) == Catch::Approx(one.deviation).epsilon(0.05));
    const double largest = abs(x).max().item() / one.deviation;
    if (one.even) {
      CHECK(largest <= std::sqrt(3.0));
      CHECK(largest > 0.99 * std::sqrt(3.0));
    } else {
      CHECK(largest > 3.0);
    }
  }
}

TEST_CASE("init of nothing draws nothing, and vectors have no fans", "[init][errors]") {
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 3}, Shape{3, 0}}) {
    Tensor none = zeros(shape);
    CHECK_NOTHROW(init::xavier_uniform_(none));
    CHECK_NOTHROW(init::kaiming_normal_(none));
  }
  Tensor vector = zeros({3});
  CHECK(error_text<ShapeError>([&] { init::xavier_normal_(vector); }) ==
        "xavier_normal_: needs at least two axes to tell inputs from outputs\n"
        "  got    tensor (3,) float32\n"
        "  need   (out, in, ...)");
  CHECK(error_text<ValueError>([&] { init::normal_(vector, 0.0, -1.0); }) ==
        "normal_: deviation -1 must be at least 0");
}
