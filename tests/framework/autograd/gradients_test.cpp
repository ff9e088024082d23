// gradients(): derivatives as tensors, to any order.
#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("gradients: of several outputs by several inputs") {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor product = (x * w).sum();
  const Tensor squares = (x * x).sum();
  const std::vector<Tensor> found = gradients({product, squares}, {x, w});
  CHECK_THAT(found[0], HasValues({3 + 2, 4 + 4}));
  CHECK_THAT(found[1], HasValues({1, 2}));
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(w.grad().defined());
  CHECK_FALSE(found[0].requires_grad());
}

TEST_CASE("gradients: weighted by grad_outputs") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  const Tensor z = x * 3;
  const std::vector<Tensor> found = gradients(
      {y, z}, {x}, {.grad_outputs = {tensor({1, 10}, float64), tensor({100, 1000}, float64)}});
  CHECK_THAT(found[0], HasValues({2 + 300, 40 + 3000}));
}

TEST_CASE("gradients: by intermediate results, and of a tensor by itself") {
  const Tensor x = leaf(2);
  const Tensor h = x * x;
  const Tensor y = h * h + x;
  const std::vector<Tensor> found = gradients({y}, {h, x}, {.retain_graph = true});
  CHECK_THAT(found[0], HasValues(8));
  CHECK_THAT(found[1], HasValues(8 * 4 + 1));
  CHECK_THAT(gradients({y}, {y}, {.retain_graph = true})[0], HasValues(1));
  CHECK_THAT(gradients({x}, {x})[0], HasValues(1));
  const std::vector<Tensor> twice = gradients({y}, {x, x});
  CHECK_THAT(twice[0], HasValues(33));
  CHECK_THAT(twice[1], HasValues(33));
}

// What lies before the inputs is not gone through: its saved values stay for a backward of its own.
TEST_CASE("gradients: stop at the inputs") {
  const Tensor x = leaf({1, 2});
  const Tensor h = exp(x);
  const Tensor gradient = gradients({(h * h).sum()}, {h})[0];
  CHECK_THAT(gradient, IsCloseTo(h.detach() * 2));
  CHECK_FALSE(h.impl().node->is_released());
  h.backward({.gradient = gradient});
  CHECK_THAT(x.grad(), IsCloseTo(h.detach() * h.detach() * 2));
}

TEST_CASE("gradients: go only where an input asks") {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor side = exp(w);
  gradients({(x * side).sum()}, {x});
  CHECK_FALSE(side.impl().node->is_released());
  side.sum().backward();
  CHECK_THAT(w.grad(), IsCloseTo(side.detach()));
}

TEST_CASE("gradients: inputs that the outputs do not depend on") {
  const Tensor x = leaf({1, 2});
  const Tensor unused = leaf({{1, 2, 3}}, float32);
  const Tensor y = (x * 2).sum();
  CHECK(error_text<AutogradError>([&] {
          gradients({y}, {x, unused}, {.retain_graph = true});
        }) ==
        "gradients: the outputs do not depend on input 1\n"
        "  got    (1, 3) float32\n"
        "  hint   {.allow_unused = true} gives zeros for it");
  const std::vector<Tensor> found = gradients({y}, {unused, x}, {.allow_unused = true});
  CHECK_THAT(found[0], IsCloseTo(zeros({1, 3}, float32)));
  CHECK_THAT(found[1], HasValues({2, 2}));
}

TEST_CASE("gradients: what does not fit") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  CHECK(error_text<ValueError>([&] {
          gradients({y, y}, {x}, {.grad_outputs = {ones({2}, float64)}});
        }) == "gradients: 1 grad_outputs for 2 outputs");
  CHECK(error_text<ShapeError>(
            [&] { gradients({y}, {x}, {.grad_outputs = {ones({3}, float64)}}); }) ==
        "gradients: the gradient does not fit the tensor\n"
        "  got    gradient (3,), tensor (2,)");
  CHECK(error_text<DTypeError>([&] { gradients({y}, {x}, {.grad_outputs = {ones({2})}}); }) ==
        "gradients: a float32 gradient for a float64 tensor");
  CHECK(error_text<AutogradError>([&] { gradients({y}, {x}); }) ==
        "gradients: needs a single number, this tensor has 2\n"
        "  got    (2,) float64, from mul\n"
        "  hint   mean().backward() for training; backward({.gradient = g}) for a vector-Jacobian "
        "product");
  CHECK(error_text<AutogradError>([&] { gradients({y.sum()}, {ones({2})}); }) ==
        "gradients: input 0 requires no gradient\n"
        "  got    (2,) float32\n"
        "  hint   requires_grad_() before it is used");
}

// C081: orders that no longer depend on x are 0, not an error and not nothing.
TEST_CASE("gradients: to higher orders") {
  SECTION("a cube") {
    const Tensor x = leaf(2);
    const Tensor first = gradients({x * x * x}, {x}, {.create_graph = true})[0];
    CHECK_THAT(first, HasValues(12));
    const Tensor second = gradients({first}, {x}, {.create_graph = true})[0];
    CHECK_THAT(second, HasValues(12));
    const Tensor third = gradients({second}, {x}, {.create_graph = true})[0];
    CHECK_THAT(third, HasValues(6));
    CHECK_THAT(gradients({third}, {x}, {.allow_unused = true})[0], HasValues(0));
  }
  SECTION("a straight line") {
    const Tensor x = leaf(2);
    const Tensor first = gradients({3 * x}, {x}, {.create_graph = true})[0];
    CHECK_THAT(first, HasValues(3));
    CHECK_THAT(gradients({first}, {x}, {.allow_unused = true})[0], HasValues(0));
    const Tensor constant = tensor(5, float64);
    const Tensor product = gradients({x * constant}, {x}, {.create_graph = true})[0];
    CHECK_THAT(gradients({product}, {x}, {.allow_unused = true})[0], HasValues(0));
  }
  SECTION("a gradient penalty, by backward") {
    const Tensor x = leaf({1, 2});
    const Tensor first = gradients({(x * x * x).sum()}, {x}, {.create_graph = true})[0];
    (first * first).sum().backward();  // d/dx (3 x^2)^2 = 36 x^3
    CHECK_THAT(x.grad(), HasValues({36, 288}));
  }
  SECTION("mixed") {
    const Tensor x = leaf(2);
    const Tensor w = leaf(3);
    const Tensor by_x = gradients({x * x * w}, {x}, {.create_graph = true})[0];
    CHECK_THAT(gradients({by_x}, {w})[0], HasValues(4));
  }
  SECTION("through the weights of the gradient") {
    const Tensor x = leaf({1, 2});
    const Tensor v = leaf({3, 4});
    const Tensor first = gradients({x * x}, {x}, {.grad_outputs = {v}, .create_graph = true})[0];
    CHECK_THAT(gradients({first.sum()}, {v})[0], HasValues({2, 4}));
  }
}

TEST_CASE("gradients: NaN and infinity come through as they are") {
  const Tensor x = leaf({0, 1});
  sqrt(x).sum().backward();
  CHECK_THAT(x.grad(), HasValues({kInf, 0.5}));
}
