#include "framework/ops/masking.h"

#include "framework/autograd/backward.h"
#include "framework/autograd/trace.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/support/finite.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("masked_fill: the value where the mask is true") {
  const Tensor x = tensor({{1, 2}, {3, 4}}, float64);
  CHECK_THAT(masked_fill(x, tensor({{1, 0}, {0, 1}}, boolean), -kInf),
             HasValues({{-kInf, 2}, {3, -kInf}}));
  CHECK_THAT(masked_fill(x, tensor({0, 1}, boolean), 9), HasValues({{1, 9}, {3, 9}}));
  CHECK_THAT(masked_fill(x, tensor({{0}, {1}}, boolean), 9), HasValues({{1, 2}, {9, 9}}));
  CHECK_THAT(masked_fill(x, tensor(1, boolean), 0), HasValues({{0, 0}, {0, 0}}));
  CHECK_THAT(masked_fill(tensor(1, float64), tensor({0, 1}, boolean), 5), HasValues({1, 5}));
  CHECK_THAT(masked_fill(x, tensor({{1, 0}, {0, 1}}, boolean).transpose(0, 1), 0),
             HasValues({{0, 2}, {3, 0}}));
  CHECK_THAT(masked_fill(x.transpose(0, 1), tensor({{1, 0}, {0, 0}}, boolean), 0),
             HasValues({{0, 3}, {2, 4}}));
  CHECK_THAT(masked_fill(tensor({1, 2}, int64), tensor({0, 1}, boolean), -7),
             IsCloseTo(tensor({1, -7}, int64)));
  CHECK(masked_fill(zeros({0, 2}), tensor({0, 1}, boolean), 1).shape() == Shape{0, 2});
}

TEST_CASE("masked_fill: hides NaN, and its gradient") {
  const Tensor x = leaf({kNaN, 2, kInf});
  const Tensor y = masked_fill(x, tensor({1, 0, 1}, boolean), 0);
  CHECK_THAT(y, HasValues({0, 2, 0}));
  y.backward({.gradient = tensor({kNaN, 5, kInf}, float64)});
  CHECK_THAT(x.grad(), HasValues({0, 5, 0}));
}

TEST_CASE("masked_fill: gradients of what was stretched") {
  const Tensor x = leaf({1, 2});
  masked_fill(x, tensor({{0, 1}, {0, 0}, {1, 1}}, boolean), 0).sum().backward();
  CHECK_THAT(x.grad(), HasValues({2, 1}));
}

TEST_CASE("where: one or the other") {
  const Tensor condition = tensor({1, 0, 1}, boolean);
  const Tensor a = tensor({1, 2, 3}, float64);
  const Tensor b = tensor({-1, -2, -3}, float64);
  CHECK_THAT(where(condition, a, b), HasValues({1, -2, 3}));
  CHECK_THAT(where(condition, a, tensor(0, float64)), HasValues({1, 0, 3}));
  CHECK_THAT(where(tensor({{1}, {0}}, boolean), a, b), HasValues({{1, 2, 3}, {-1, -2, -3}}));
  CHECK_THAT(where(tensor({{1}, {0}}, boolean), tensor(5, float64), b),
             HasValues({{5, 5, 5}, {-1, -2, -3}}));
  CHECK_THAT(where(condition, tensor({1, 2, 3}, int64), tensor({7, 8, 9}, int64)),
             IsCloseTo(tensor({1, 8, 3}, int64)));
  CHECK_THAT(where(condition, condition, logical_not(condition)), HasValues({1, 1, 1}));
  CHECK(where(zeros({0, 3}, boolean), a, b).shape() == Shape{0, 3});
}

TEST_CASE("where: the gradient chooses, too") {
  const Tensor condition = tensor({{1, 0}, {1, 1}}, boolean);
  const Tensor a = leaf({1, 2});
  const Tensor b = leaf({{3}, {4}});
  where(condition, a, b).backward({.gradient = tensor({{1, kInf}, {3, 4}}, float64)});
  CHECK_THAT(a.grad(), HasValues({4, 4}));
  CHECK_THAT(b.grad(), HasValues({{kInf}, {0}}));
}

// C028: where() itself writes a plain 0 for what it did not choose; a derivative that is infinite
// there still spoils the op before it, so the cure is a clean input, as its header says.
TEST_CASE("where: with an input cleaned for the risky branch, no NaN comes back") {
  SECTION("exp that would overflow") {
    const Tensor a = leaf({100}, float32);
    const Tensor low = le(a, 0);
    where(low, exp(where(low, a, zeros({1}))), a + 1).backward();
    CHECK_THAT(a.grad(), HasValues({1}));
  }
  SECTION("sqrt of negative numbers") {
    const Tensor x = leaf({-1, -4});
    const Tensor positive = gt(x, 0);
    where(positive, sqrt(where(positive, x, ones({2}, float64))), x).sum().backward();
    CHECK_THAT(x.grad(), HasValues({1, 1}));
  }
  SECTION("sqrt at zero") {
    const Tensor x = leaf({16, 0});
    const Tensor zero = eq(x, 0);
    const Tensor y = where(zero, x / 2, sqrt(masked_fill(x, zero, 1)) + 1);
    CHECK_THAT(y, HasValues({5, 0}));
    y.sum().backward();
    CHECK_THAT(x.grad(), HasValues({0.125, 0.5}));
  }
}

TEST_CASE("masking: what is no mask") {
  CHECK(error_text<DTypeError>([] { masked_fill(zeros({2}), ones({2}), 0); }) ==
        "masked_fill: mask must be bool, not float32\n"
        "  got    mask (2,) float32\n"
        "  hint   mask.to(boolean)");
  CHECK(error_text<ShapeError>([] {
          masked_fill(zeros({2, 3}), zeros({2}, boolean), 0);
        }) ==
        "masked_fill: shapes do not broadcast (3 vs 2 on axis 1)\n"
        "  got    x (2, 3), other (2,)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  CHECK(error_text<DTypeError>([] { where(zeros({2}, int64), zeros({2}), zeros({2})); }) ==
        "where: condition must be bool, not int64\n"
        "  got    condition (2,) int64\n"
        "  hint   condition.to(boolean)");
  CHECK_THROWS_AS(where(zeros({2}, boolean), zeros({2}), zeros({2}, float64)), DTypeError);
  CHECK_THROWS_AS(where(zeros({2}, boolean), zeros({2}), zeros({3})), ShapeError);
  CHECK_THROWS_AS(where(zeros({2}, boolean), zeros({3}), zeros({3})), ShapeError);
}

// A number that the tensor cannot hold would be stored as another one.
TEST_CASE("masked_fill: a value that an integer tensor cannot hold") {
  const Tensor x = tensor({1, 2}, int64);
  CHECK(error_text<DTypeError>([&] { masked_fill(x, ones({2}, boolean), -kInf); }) ==
        "masked_fill: -inf does not fit a int64 tensor\n"
        "  got    x (2,) int64\n"
        "  hint   x.to(float32)");
  CHECK_THROWS_AS(masked_fill(x, ones({2}, boolean), 0.5), DTypeError);
  CHECK_THROWS_AS(masked_fill(x.to(boolean), ones({2}, boolean), 2), DTypeError);
  CHECK_NOTHROW(masked_fill(x.to(boolean), ones({2}, boolean), 1));
}

// What remains where the input is not cleaned: 0 arrives at the risky op, whose infinite derivative
// makes NaN of it. The header says so, and a NanTrace stops there.
TEST_CASE("where: an infinite derivative in the branch not chosen is NaN, and NanTrace finds it") {
  const Tensor a = leaf({100}, float32);
  const Tensor y = where(le(a, 0), exp(a), a + 1);
  CHECK_THAT(y, HasValues({101}));
  y.backward();
  CHECK_THAT(a.grad(), HasValues({kNaN}));

  const Tensor x = leaf({16, 0});
  const Tensor zero = eq(x, 0);
  const Tensor z = where(zero, x / 2, sqrt(x) + 1);
  CHECK_THAT(z, HasValues({5, 0}));
  const NanTrace trace;
  CHECK(error_text<AutogradError>([&] { z.sum().backward(); }) ==
        "sqrt backward: the gradient of its input 0 turned NaN at (1,)\n"  // 0 / (2 sqrt(0))
        "  got    (2,) float64 from a gradient (2,), all finite");
}

TEST_CASE("where and masked_fill: a cleaned input is clean to second order, in either dtype") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{16, 0, -4}, {1, -1, 9}}, dtype);
  const auto root = [](const Tensor& given, const Tensor& positive) {
    return where(positive, sqrt(where(positive, given, ones_like(given))), given);
  };
  const auto found =
      check_finite([&](const std::vector<Tensor>& in) { return root(in[0], gt(in[0], 0)); }, {x});
  CHECK_THAT(found[0], HasValues({{4, 0, -4}, {1, -1, 3}}));
  check_finite(
      [&](const std::vector<Tensor>& in) {
        const Tensor turned = stored_transposed(in[0]);
        return root(turned, gt(turned, 0));
      },
      {x});
  check_finite(
      [&](const std::vector<Tensor>& in) {
        const Tensor hidden = le(in[0].detach(), 0);
        return log(masked_fill(in[0], hidden, 1)) + softmax(masked_fill(in[0], hidden, -kInf), 0);
      },
      {x.slice(0, 0, 2).slice(1, 0, 1)});
}

TEST_CASE("masked_fill: -inf, then softmax, is clean to second order under any mask that is seen") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = random_normal({2, 3, 4}, 1, dtype);
  const Tensor masks[] = {tensor({0, 1, 0, 1}, boolean),
                          tensor({{0, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 0}}, boolean),
                          tensor({{{1}, {0}, {1}}, {{0}, {1}, {0}}}, boolean)};
  for (const Tensor& mask : masks) {
    INFO(mask);
    check_finite(
        [&](const std::vector<Tensor>& in) {
          return softmax(masked_fill(in[0], mask, -kInf), -1, WhenAllHidden::zero);
        },
        {x});
  }
}
