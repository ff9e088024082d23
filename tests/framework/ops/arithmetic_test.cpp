#include "framework/ops/arithmetic.h"

#include <functional>
#include <utility>

#include "framework/autograd/backward.h"
#include "framework/ops/compare.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("arithmetic: two tensors, element by element") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, -2, 3}, {4, 5, 0}}, dtype);
  const Tensor other = tensor({{2, 4, -0.5}, {8, 1, 1}}, dtype);
  CHECK_THAT(x + other, HasValues({{3, 2, 2.5}, {12, 6, 1}}));
  CHECK_THAT(x - other, HasValues({{-1, -6, 3.5}, {-4, 4, -1}}));
  CHECK_THAT(x * other, HasValues({{2, -8, -1.5}, {32, 5, 0}}));
  CHECK_THAT(x / other, HasValues({{0.5, -0.5, -6}, {0.5, 5, 0}}));
  CHECK_THAT(-x, HasValues({{-1, 2, -3}, {-4, -5, 0}}));
  CHECK((x / other).dtype() == dtype);
}

TEST_CASE("arithmetic: a tensor and a number, in either order") {
  const Tensor x = tensor({1, -2, 4}, float64);
  CHECK_THAT(x + 3, HasValues({4, 1, 7}));
  CHECK_THAT(3 + x, HasValues({4, 1, 7}));
  CHECK_THAT(x - 3, HasValues({-2, -5, 1}));
  CHECK_THAT(3 - x, HasValues({2, 5, -1}));
  CHECK_THAT(x * 3, HasValues({3, -6, 12}));
  CHECK_THAT(3 * x, HasValues({3, -6, 12}));
  CHECK_THAT(x / 4, HasValues({0.25, -0.5, 1}));
  CHECK_THAT(4 / x, HasValues({4, -2, 1}));
  CHECK((tensor({1}, float32) + 1e-3).dtype() == float32);
}

TEST_CASE("arithmetic: the named spellings, with a factor") {
  const Tensor x = tensor({1, 2}, float64);
  const Tensor other = tensor({10, 20}, float64);
  CHECK_THAT(add(x, other), HasValues({11, 22}));
  CHECK_THAT(add(x, other, 0.5), HasValues({6, 12}));
  CHECK_THAT(sub(x, other), HasValues({-9, -18}));
  CHECK_THAT(sub(x, other, 2), HasValues({-19, -38}));
  CHECK_THAT(mul(x, other), HasValues({10, 40}));
  CHECK_THAT(div(x, other), HasValues({0.1, 0.1}));
  CHECK_THAT(neg(x), HasValues({-1, -2}));
}

TEST_CASE("arithmetic: maximum and minimum") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, -2, 3}, {4, 5, 0}}, dtype);
  const Tensor other = tensor({2, -3, 3}, dtype);
  CHECK_THAT(maximum(x, other), HasValues({{2, -2, 3}, {4, 5, 3}}));
  CHECK_THAT(minimum(x, other), HasValues({{1, -3, 3}, {2, -3, 0}}));
  const Tensor lowest =
      full({1}, static_cast<double>(std::numeric_limits<std::int64_t>::min()), dtype);
  CHECK_THAT(minimum(lowest, zeros({1}, dtype)), IsCloseTo(lowest));
  CHECK_THAT(maximum(lowest, zeros({1}, dtype)), HasValues({0}));
}

TEST_CASE("arithmetic: in maximum and minimum NaN wins") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({kNaN, 1, kNaN, kInf}, dtype);
  const Tensor other = tensor({1, kNaN, kNaN, -kInf}, dtype);
  CHECK_THAT(maximum(x, other), HasValues({kNaN, kNaN, kNaN, kInf}));
  CHECK_THAT(minimum(x, other), HasValues({kNaN, kNaN, kNaN, -kInf}));
}

// C048
TEST_CASE("arithmetic: equal operands of maximum share the gradient") {
  const Tensor x = leaf({1, 2, 0});
  const Tensor other = leaf({1, 0, 2});
  maximum(x, other).sum().backward();
  CHECK_THAT(x.grad(), HasValues({0.5, 1, 0}));
  CHECK_THAT(other.grad(), HasValues({0.5, 0, 1}));
  x.zero_grad();
  other.zero_grad();
  minimum(x, other).sum().backward();
  CHECK_THAT(x.grad(), HasValues({0.5, 0, 1}));
  CHECK_THAT(other.grad(), HasValues({0.5, 1, 0}));
}

TEST_CASE("arithmetic: division by zero follows IEEE 754") {
  const Tensor x = tensor({1, -1, 0}, float32);
  CHECK_THAT(x / 0, HasValues({kInf, -kInf, kNaN}));
  CHECK_THAT(x / zeros({3}), HasValues({kInf, -kInf, kNaN}));
}

TEST_CASE("arithmetic: integers are exact and wrap around") {
  const Tensor large = from_vector<std::int64_t>({(std::int64_t{1} << 53) + 1});
  CHECK_THAT(large + from_vector<std::int64_t>({1}),
             IsCloseTo(from_vector<std::int64_t>({(std::int64_t{1} << 53) + 2})));
  const Tensor last = from_vector<std::int64_t>({std::numeric_limits<std::int64_t>::max()});
  const Tensor first = from_vector<std::int64_t>({std::numeric_limits<std::int64_t>::min()});
  CHECK_THAT(last + from_vector<std::int64_t>({1}), IsCloseTo(first));
  CHECK_THAT(first - from_vector<std::int64_t>({1}), IsCloseTo(last));
  CHECK_THAT(-first, IsCloseTo(first));
  CHECK_THAT(tensor({7, -3}, int64) * 2, HasValues({14, -6}));
  CHECK_THAT(2 - tensor({7, -3}, int64), HasValues({-5, 5}));
}

TEST_CASE("arithmetic: shapes broadcast from the last axis") {
  const Tensor a = tensor({{{1, 2, 3}}, {{4, 5, 6}}}, float64);  // (2, 1, 3)
  const Tensor b = tensor({{10}, {20}}, float64);                // (2, 1)
  CHECK_THAT(a + b, HasValues({{{11, 12, 13}, {21, 22, 23}}, {{14, 15, 16}, {24, 25, 26}}}));
  CHECK_THAT(tensor(2, float64) * a, IsCloseTo(a * 2));
  CHECK_THAT(a - tensor({1, 2, 3}, float64), HasValues({{{0, 0, 0}}, {{3, 3, 3}}}));
  CHECK((zeros({0, 2, 3}) + zeros({2, 3})).shape() == Shape{0, 2, 3});
  CHECK((zeros({1, 3}) + zeros({0, 1})).shape() == Shape{0, 3});
}

// C075: the gradient is reduced over just the axes that were stretched, and has the operand's
// shape.
TEST_CASE("arithmetic: gradients of broadcast operands") {
  SECTION("(2, 1, 3) times (4, 1)") {
    const Tensor a = leaf({{{1, 1, 1}}, {{1, 1, 1}}});
    const Tensor b = leaf({{1}, {2}, {3}, {4}});
    (a * b).sum().backward();
    CHECK_THAT(a.grad(), HasValues({{{10, 10, 10}}, {{10, 10, 10}}}));
    CHECK_THAT(b.grad(), HasValues({{6}, {6}, {6}, {6}}));
  }
  SECTION("(3) plus (2, 3)") {
    const Tensor a = leaf({1, 2, 3});
    const Tensor b = leaf({{1, 2, 3}, {4, 5, 6}});
    (a + b).sum().backward();
    CHECK_THAT(a.grad(), HasValues({2, 2, 2}));
    CHECK_THAT(b.grad(), HasValues({{1, 1, 1}, {1, 1, 1}}));
  }
  SECTION("() plus (2, 3)") {
    const Tensor a = leaf(1);
    (a + zeros({2, 3}, float64)).sum().backward();
    CHECK_THAT(a.grad(), HasValues(6));
  }
  SECTION("(1, 1) plus (2, 3)") {
    const Tensor a = leaf({{1}});
    (zeros({2, 3}, float64) - a).sum().backward();
    CHECK_THAT(a.grad(), HasValues({{-6}}));
  }
  SECTION("(2, 3) plus (0, 2, 3)") {
    const Tensor a = leaf({{1, 2, 3}, {4, 5, 6}});
    (a + zeros({0, 2, 3}, float64)).sum().backward();
    CHECK_THAT(a.grad(), HasValues({{0, 0, 0}, {0, 0, 0}}));
  }
}

// C051: -a / b^2 would overflow, or underflow to 0.
TEST_CASE("arithmetic: the derivative of a division does not square the denominator") {
  const auto gradient_of_denominator = [](double value) {
    const Tensor a = tensor(value, float32);
    const Tensor b = leaf(value, float32);
    (a / b).backward();
    return b.grad();
  };
  CHECK_THAT(gradient_of_denominator(1e-25) * 1e-25, HasValues(-1));
  CHECK_THAT(gradient_of_denominator(1e20) * 1e20, HasValues(-1));

  const Tensor b = leaf(1e20, float32);
  (1e20 / b).backward();
  CHECK_THAT(b.grad() * 1e20, HasValues(-1));
}

TEST_CASE("arithmetic: gradients by either operand") {
  const Tensor x = leaf({3, -2});
  const Tensor other = leaf({2, 5});
  const auto expect = [&](const Tensor& y, const NestedNumbers& dx, const NestedNumbers& dother) {
    const std::vector<Tensor> found = gradients({y.sum()}, {x, other}, {.allow_unused = true});
    CHECK_THAT(found[0], HasValues(dx));
    CHECK_THAT(found[1], HasValues(dother));
  };
  expect(x + other, {1, 1}, {1, 1});
  expect(x - other, {1, 1}, {-1, -1});
  expect(x * other, {2, 5}, {3, -2});
  expect(x / other, {0.5, 0.2}, {-0.75, 2.0 / 25});
  expect(add(x, other, 3), {1, 1}, {3, 3});
  expect(sub(x, other, 3), {1, 1}, {-3, -3});
  expect(x + 7, {1, 1}, {0, 0});
  expect(7 - x, {-1, -1}, {0, 0});
  expect(x * 7, {7, 7}, {0, 0});
  expect(x / 4, {0.25, 0.25}, {0, 0});
  expect(6 / x, {-6.0 / 9, -1.5}, {0, 0});
  expect(-x, {-1, -1}, {0, 0});
}

TEST_CASE("arithmetic: reads operands of any strides") {
  const Tensor x = random_normal({4, 3, 5}, 1);
  const Tensor other = random_normal({4, 3, 5}, 2);
  const std::vector<std::function<Tensor(const Tensor&)>> layouts = {
      [](const Tensor& t) { return t; },
      [](const Tensor& t) { return stored_transposed(t); },
      [](const Tensor& t) {
        return t.permute({1, 2, 0}).contiguous().permute({2, 0, 1});
      },
      [](const Tensor& t) {  // every second element of something larger
        Tensor wide = full({4, 3, 10}, kNaN, float64);
        wide.slice(2, 1, std::nullopt, 2).copy_(t);
        return wide.slice(2, 1, std::nullopt, 2);
      },
  };
  for (const auto& layout : layouts) {
    for (const auto& other_layout : layouts) {
      const Tensor a = layout(x);
      const Tensor b = other_layout(other);
      CHECK_THAT(a + b, IsCloseTo(x + other, exactly));
      CHECK_THAT(a - b, IsCloseTo(x - other, exactly));
      CHECK_THAT(a * b, IsCloseTo(x * other, exactly));
      CHECK_THAT(a / b, IsCloseTo(x / other, exactly));
      CHECK_THAT(a.slice(0, 0, 1) + b,
                 IsCloseTo(x.slice(0, 0, 1).expand({4, 3, 5}) + other, exactly));
      CHECK_THAT(a * 2 - 1, IsCloseTo(x * 2 - 1, exactly));
      CHECK_THAT(-a, IsCloseTo(-x, exactly));
    }
  }
}

// C057: the text names the op, both shapes and the axis.
TEST_CASE("arithmetic: what cannot be combined") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] {
          x + zeros({4, 3});
        }) ==
        "add: shapes do not broadcast (2 vs 4 on axis 0)\n"
        "  got    x (2, 3), other (4, 3)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  CHECK(error_text<ShapeError>([&] {
          zeros({5, 2, 3}) * zeros({2, 2});
        }) ==
        "mul: shapes do not broadcast (3 vs 2 on axis 2)\n"
        "  got    x (5, 2, 3), other (2, 2)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  CHECK(error_text<ShapeError>([&] { zeros({0}) - zeros({2}); }) ==
        "sub: shapes do not broadcast (0 vs 2 on axis 0)\n"
        "  got    x (0,), other (2,)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  CHECK(error_text<DTypeError>([&] {
          x + zeros({2, 3}, float64);
        }) ==
        "add: float32 and float64 are not mixed silently\n"
        "  got    x (2, 3) float32, other (2, 3) float64\n"
        "  hint   other.to(float32), or model.to(float64) for gradient checks");
  CHECK(error_text<DTypeError>([&] { x / zeros({3}, int64); }) ==
        "div: float32 and int64 are not mixed silently\n"
        "  got    x (2, 3) float32, other (3,) int64\n"
        "  hint   other.to(float32)");
  CHECK(error_text<DTypeError>([&] { zeros({3}, int64) / zeros({3}, int64); }) ==
        "div: needs a floating tensor, not int64\n"
        "  got    x (3,) int64\n"
        "  hint   x.to(float32)");
  CHECK(error_text<DTypeError>([&] { 1 / zeros({3}, int64); }) ==
        "div: needs a floating tensor, not int64\n"
        "  got    x (3,) int64\n"
        "  hint   x.to(float32)");
  CHECK(error_text<DTypeError>([&] { zeros({3}, boolean) + zeros({3}, boolean); }) ==
        "add: bool tensors have no arithmetic\n"
        "  got    x (3,) bool, other (3,) bool\n"
        "  hint   x.to(int64)");
  CHECK(error_text<DTypeError>([&] { zeros({3}, int64) * 0.5; }) ==
        "mul: 0.5 does not fit a int64 tensor\n"
        "  got    x (3,) int64\n"
        "  hint   x.to(float32)");
  CHECK_THROWS_AS(zeros({3}, int64) + 1e19, DTypeError);
  CHECK_THROWS_AS(zeros({3}, int64) + kNaN, DTypeError);
  CHECK_THROWS_AS(zeros({3}, boolean) + 1, DTypeError);
  CHECK_THROWS_AS(-zeros({3}, boolean), DTypeError);
  CHECK_THROWS_AS(Tensor() + x, ValueError);
  for (const auto& [name, op] : {std::pair{"maximum", &maximum}, std::pair{"minimum", &minimum}}) {
    CHECK(error_text<ShapeError>([&, op = op] {
            op(x, zeros({4, 3}));
          }) == std::string(name) +
                    ": shapes do not broadcast (2 vs 4 on axis 0)\n"
                    "  got    x (2, 3), other (4, 3)\n"
                    "  need   equal sizes on every axis, counted from the last, or a 1");
    CHECK_THROWS_AS(op(x, zeros({3}, int64)), DTypeError);
    CHECK_THROWS_AS(op(zeros({3}, boolean), zeros({3}, boolean)), DTypeError);
  }
}

TEST_CASE("arithmetic: nothing is recorded where no operand wants a gradient") {
  CHECK_FALSE((zeros({2}) + ones({2})).requires_grad());
  CHECK((leaf({1, 2}) + tensor({1, 2}, float64)).requires_grad());
  CHECK((tensor({1, 2}, float64) * leaf({1, 2})).requires_grad());
}

TEST_CASE("arithmetic: a gradient has the shape of its operand, in every op that broadcasts") {
  const DType dtype = GENERATE(float32, float64);
  using Op = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::pair<const char*, Op> ops[] = {
      {"add", [](const Tensor& a, const Tensor& b) { return a + b; }},
      {"sub", [](const Tensor& a, const Tensor& b) { return a - b; }},
      {"mul", [](const Tensor& a, const Tensor& b) { return a * b; }},
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }},
      {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }},
      {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); }},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }},
      {"where", [](const Tensor& a, const Tensor& b) { return where(gt(a, b), a, b); }},
      {"mse_loss",
       [](const Tensor& a, const Tensor& b) { return mse_loss(a, b, Reduction::none); }}};
  const std::pair<Shape, Shape> shapes[] = {
      {{2, 1, 3}, {4, 1}}, {{3}, {2, 3}}, {{}, {2, 3}}, {{1, 1}, {2, 3}}, {{2, 3}, {0, 2, 3}},
      {{1}, {0}},          {{}, {}},      {{1}, {}},    {{2, 3}, {2, 3}}, {{1, 3, 1}, {2, 1, 4}},
      {{5, 1, 1, 1}, {3}}};
  for (const auto& [name, op] : ops) {
    for (const auto& [left, right] : shapes) {
      INFO(name << " of " << left << " and " << right);
      const Tensor a = (random_normal(left, 1, dtype) * 0.1 + 2).requires_grad_();
      const Tensor b = (random_normal(right, 2, dtype) * 0.1 + 2).requires_grad_();
      const Tensor y = op(a, b);
      CHECK(y.shape() == broadcast_shape("test", left, right));
      for (const Tensor& gradient : {gradients({y.sum()}, {a, b}, {.retain_graph = true})[0],
                                     gradients({op(b, a).sum()}, {a, b})[0]}) {
        CHECK(gradient.shape() == left);
      }
      const Tensor of_b = gradients({y.sum()}, {b})[0];
      CHECK(of_b.shape() == right);
      if (y.numel() == 0) CHECK_THAT(of_b, IsCloseTo(zeros(right, dtype), exactly));
    }
  }
}

TEST_CASE("arithmetic: division by very small and very large numbers, stretched, to second order") {
  const Tensor b = leaf({1e-25, 1e20}, float32);
  const Tensor a = leaf({{1e-25, 1e20}, {1e-25, 1e20}}, float32);
  (a / b).sum().backward();
  CHECK_THAT(b.grad() * tensor({1e-25, 1e20}), HasValues({-2, -2}));
  CHECK_THAT(a.grad() * tensor({1e-25, 1e20}), HasValues({{1, 1}, {1, 1}}));

  const Tensor number = leaf({1e20, 1e10}, float32);
  (1e20 / number).backward({.gradient = tensor({1, 0})});
  CHECK_THAT(number.grad() * 1e20, HasValues({-1, 0}));

  const Tensor x = leaf(1e12, float32);  // d2(x0/x)/dx2 = 2 / x^2 for x0 = x
  const Tensor first = gradients({1e12 / x}, {x}, {.create_graph = true})[0];
  CHECK_THAT(gradients({first}, {x})[0] * 1e24, HasValues(2));
}
