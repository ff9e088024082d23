// Function: ops with rules of a user's own, to second order, and what may go wrong with them.
#include "framework/autograd/function.h"

#include <optional>
#include <string>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/tape.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

Function cube_with(std::function<Tensor(const Vjp&)> rule, Saves saves = Saves::inputs) {
  return Function({.name = "cube",
                   .forward = [](const Inputs& x) { return x[0] * x[0] * x[0]; },
                   .rules = {std::move(rule)},
                   .saves = saves});
}

Tensor right_rule(const Vjp& v) { return v.grad() * v.input(0) * v.input(0) * 3.0; }

/// forward() without a gradient.
Function made_of(std::function<Tensor(const Inputs&)> forward) {
  return Function({.name = "made", .forward = std::move(forward)});
}

std::uint32_t holders(const Tensor& leaf) { return leaf.impl().node->ref_count(); }

}  // namespace

TEST_CASE("function: a rule of one's own, to second order and beyond", "[function]") {
  const Function cube = cube_with(right_rule);
  CHECK_GRADIENTS(cube, {random_normal({2, 3}, 1)}, {.order = 2});
  const Tensor x = leaf({2});
  const Tensor first = gradients({cube({x})}, {x}, {.create_graph = true})[0];
  const Tensor second = gradients({first}, {x}, {.create_graph = true})[0];
  const Tensor third = gradients({second}, {x}, {.create_graph = true})[0];
  CHECK(first.item() == 12.0);
  CHECK(second.item() == 12.0);
  CHECK(third.item() == 6.0);
}

TEST_CASE("function: a rule that uses the output, to second order", "[function]") {
  const Function own_exp({.name = "own_exp",
                          .forward = [](const Inputs& x) { return exp(x[0]); },
                          .rules = {[](const Vjp& v) { return v.grad() * v.output(); }},
                          .saves = Saves::output});
  CHECK_GRADIENTS(own_exp, {random_normal({4}, 1)}, {.order = 2});
}

TEST_CASE("function: several inputs, in an expression with library ops", "[function]") {
  const Function product(
      {.name = "product",
       .forward = [](const Inputs& x) { return matmul(x[0], x[1]); },
       .rules = {[](const Vjp& v) { return matmul(v.grad(), v.input(1).transpose(0, 1)); },
                 [](const Vjp& v) { return matmul(v.input(0).transpose(0, 1), v.grad()); }}});
  const auto function = [&](const Tensor& a, const Tensor& b) {
    return tanh(product({exp(a), b})) * 2.0;
  };
  CHECK_GRADIENTS(function, {random_normal({2, 3}, 1), random_normal({3, 2}, 2)}, {.order = 2});
  const Tensor a = leaf({{1, 2}});
  CHECK(std::string(Tape(product({a, leaf({{1}, {2}})}))[2].name()) == "product");
}

TEST_CASE("function: an input without a rule gets no gradient", "[function]") {
  const Tensor x = leaf({1, 2});
  const Tensor scale = leaf({3, 4});
  const auto forward = [](const Inputs& in) { return in[0] * in[1]; };
  const auto rule = [](const Vjp& v) { return v.grad() * v.input(1); };
  for (const auto& rules :
       {std::vector<std::function<Tensor(const Vjp&)>>{rule}, {rule, nullptr}}) {
    const Function scaled({.name = "scaled", .forward = forward, .rules = rules});
    scaled({x, scale}).sum().backward();
    CHECK(x.grad().to_vector<double>() == std::vector<double>{3, 4});
    CHECK_FALSE(scale.grad().defined());
    x.zero_grad();
  }
}

TEST_CASE("function: an op without any rule is an error where backward meets it", "[function]") {
  const Tensor x = leaf({1, 2});
  const Function halved = made_of([](const Inputs& in) { return in[0] * 0.5; });
  const Tensor y = halved({x * 3});
  CHECK(y.to_vector<double>() == std::vector<double>{1.5, 3});
  const std::string want =
      "made backward: it has no rules\n"
      "  hint   Function({... .rules = {...}}), {nullptr} for an input without a gradient; or "
      "detach() the result";
  CHECK(error_text<AutogradError>([&] { y.sum().backward(); }) == want);
  CHECK(error_text<AutogradError>([&] { gradients({y.sum()}, {x}); }) == want);
  CHECK_FALSE(x.grad().defined());
  const NoGrad no_grad;
  CHECK_NOTHROW(halved({x}));
}

TEST_CASE("function: rules of inputs that want no gradient are not run", "[function]") {
  int calls = 0;
  const auto rule = [&calls](const Vjp& v) {
    ++calls;
    return v.grad();
  };
  const Function sum_of({.name = "sum_of",
                         .forward = [](const Inputs& in) { return in[0] + in[1]; },
                         .rules = {rule, rule}});
  const Tensor x = leaf({1, 2});
  sum_of({x, ones({2}, float64)}).sum().backward();
  CHECK(calls == 1);
  CHECK_FALSE(sum_of({ones({2}, float64), ones({2}, float64)}).requires_grad());
  const NoGrad no_grad;
  CHECK_FALSE(sum_of({x, x}).requires_grad());
}

TEST_CASE("function: integers and bools go in and come out without a gradient", "[function]") {
  const Function is_positive = made_of([](const Inputs& in) { return gt(in[0], 0.0); });
  const Tensor result = is_positive({leaf({-1, 1})});
  CHECK(result.dtype() == boolean);
  CHECK_FALSE(result.requires_grad());
  const Function chosen(
      {.name = "chosen",
       .forward = [](const Inputs& in) { return in[0] * in[1].to(float64); },
       .rules = {[](const Vjp& v) { return v.grad() * v.input(1).to(float64); }}});
  CHECK_GRADIENTS(chosen, {random_normal({2}, 1), tensor({2, 3}, int64)}, {.order = 2});
}

TEST_CASE("function: forward may hand on what others hold", "[function]") {
  SECTION("an input, or a view of one") {
    const Function same({.name = "same",
                         .forward = [](const Inputs& in) { return in[0]; },
                         .rules = {[](const Vjp& v) { return v.grad(); }}});
    const Tensor x = leaf({1, 2});
    const Tensor y = same({x});
    CHECK_FALSE(y.is_same(x));
    CHECK(x.is_leaf());
    CHECK_FALSE(y.is_leaf());
    y.sum().backward();
    CHECK(x.grad().to_vector<double>() == std::vector<double>{1, 1});
    CHECK_GRADIENTS([&](const Tensor& a) { return same({a}).transpose(0, 1); },
                    {random_normal({2, 3}, 1)}, {.order = 2});
  }
  SECTION("a tensor that it keeps") {
    const Tensor kept = ones({2}, float64);
    const Tensor parameter = leaf({5, 6});
    const Tensor x = leaf({1, 2});
    CHECK(made_of([&](const Inputs&) { return kept; })({x}).requires_grad());
    CHECK_FALSE(kept.requires_grad());
    CHECK_FALSE(made_of([&](const Inputs&) { return parameter; })({x}).is_same(parameter));
    CHECK(parameter.is_leaf());
  }
}

TEST_CASE("function: what a tape holds lives as long as it, and no longer", "[function]") {
  const Tensor x = leaf({1, 2});
  const auto canary = std::make_shared<int>(1);
  std::optional<Function> cube = cube_with([canary](const Vjp& v) { return right_rule(v); });
  Tensor y = (*cube)({x});
  CHECK(holders(x) == 2);
  cube.reset();  // the step outlives the function, and its name, too
  CHECK(canary.use_count() == 2);
  y.sum().backward();
  CHECK(x.grad().to_vector<double>() == std::vector<double>{3, 12});
  CHECK(canary.use_count() == 1);  // released with what was saved
  CHECK_THROWS_WITH(y.sum().backward(), ContainsSubstring("this tape was used already"));
  y = Tensor();
  CHECK(holders(x) == 1);
}

TEST_CASE("function: a rule that saves the output makes no cycle", "[function]") {
  const Tensor x = leaf({1, 2});
  {
    const Function own_exp({.name = "own_exp",
                            .forward = [](const Inputs& in) { return exp(in[0]); },
                            .rules = {[](const Vjp& v) { return v.grad() * v.output(); }}});
    const Tensor y = own_exp({x});
    const Tensor g = gradients({y.sum()}, {x}, {.create_graph = true})[0];
    CHECK(holders(x) > 1);
  }
  CHECK(holders(x) == 1);
}

TEST_CASE("function: a saved value changed in place is noticed", "[function]") {
  const Function cube = cube_with(right_rule);
  const Tensor x = leaf({1, 2});
  Tensor doubled = x * 2.0;
  const Tensor y = cube({doubled});
  {
    const NoGrad no_grad;
    doubled.mul_(2.0);
  }
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

TEST_CASE("function: its errors", "[function]") {
  const Tensor x = leaf({1, 2});
  CHECK_THROWS_WITH(Function({.name = "f"}), "Function: needs a name and a forward function");
  CHECK_THROWS_AS(Function({.forward = [](const Inputs& in) { return in[0]; }}), ValueError);
  CHECK_THROWS_WITH(made_of([](const Inputs&) { return Tensor(); })({x}),
                    "made: forward returned no tensor");
  CHECK_THROWS_WITH(cube_with(right_rule)({}),
                    "cube: has more rules than inputs\n"
                    "  got    1 rules, 0 inputs");
  CHECK_THROWS_WITH(cube_with(right_rule)({Tensor()}),
                    ContainsSubstring("cube: input 0 is undefined"));
  CHECK_THROWS_WITH(cube_with([](const Vjp& v) { return v.grad().sum(); })({x}).sum().backward(),
                    "cube backward: its rule returned a gradient that does not fit input 0\n"
                    "  got    () float64\n"
                    "  need   (2,) float64, as the input");
  CHECK_THROWS_WITH(cube_with(right_rule, Saves::output)({x}).sum().backward(),
                    ContainsSubstring("its rule asks for input 0, which the step did not save"));
  CHECK_THROWS_WITH(cube_with([](const Vjp& v) { return v.output(); })({x}).sum().backward(),
                    ContainsSubstring("its rule asks for the output"));
  CHECK_THROWS_AS(made_of([](const Inputs& in) { return in[0].view({5}); })({x}), ShapeError);
  CHECK(grad_enabled());  // though forward threw
}
