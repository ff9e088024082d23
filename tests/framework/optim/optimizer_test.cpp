// What all optimisers share, seen through the smallest one.
#include "framework/optim/optimizer.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "framework/optim/adam.h"
#include "framework/optim/clip.h"
#include "framework/optim/sgd.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Plain gradient descent, and how often it stepped each parameter.
class Descent : public Optimizer {
 public:
  Descent(const std::vector<Tensor>& parameters, double lr)
      : Optimizer(parameters, lr), steps(this->parameters().size()) {}

  std::vector<int> steps;

 private:
  void step_all(std::span<const Update> updates) override {
    const NoGrad no_grad;
    for (const auto& [i, parameter, gradient] : updates) {
      CHECK(parameter.is_contiguous());
      CHECK(gradient.is_contiguous());
      Tensor(parameter).add_(gradient, -lr());
      ++steps[i];
    }
  }
};

}  // namespace

TEST_CASE("C096: a parameter listed twice is stepped once", "[optim][cases]") {
  Tensor theta = leaf({1});
  Tensor other = leaf({1});
  Descent descent({theta, other, theta}, 0.1);
  CHECK(descent.parameters().size() == 2);
  theta.sum().backward();
  descent.step();
  CHECK_THAT(theta, HasValues({0.9}));
  CHECK_THAT(other, HasValues({1}, exactly));
  CHECK(descent.steps == std::vector<int>{1, 0});
}

TEST_CASE("an optimiser steps parameters and gradients of any strides", "[optim]") {
  const Tensor gradient = tensor({{1, -2, 3}, {-4, 5, -6}}, float64);
  const Tensor wide = random_normal({2, 7}, 1);
  const Tensor beside = wide.slice(1, 1, std::nullopt, 2).clone();
  Tensor parameter = wide.slice(1, 0, 6, 2).requires_grad_();
  const Tensor want = parameter.detach() - 0.5 * gradient;
  Descent descent({parameter}, 0.5);
  parameter.set_grad(stored_transposed(gradient));
  descent.step();
  CHECK_THAT(parameter, IsCloseTo(want));
  CHECK_THAT(wide.slice(1, 1, std::nullopt, 2), IsCloseTo(beside, exactly));
}

TEST_CASE("an optimiser's rate may change, and is at least 0", "[optim][errors]") {
  Tensor theta = leaf({1});
  Descent descent({theta}, 0.1);
  CHECK(descent.lr() == 0.1);
  descent.set_lr(0);
  theta.set_grad(tensor({1}, float64));
  descent.step();
  CHECK_THAT(theta, HasValues({1}, exactly));
  CHECK(error_text<ValueError>([&] { descent.set_lr(-0.5); }) ==
        "optimizer: needs an lr of at least 0, not -0.5");
  CHECK(error_text<ValueError>([&] { descent.set_lr(kNaN); }) ==
        "optimizer: needs an lr of at least 0, not nan");
  CHECK(descent.lr() == 0);
  CHECK(error_text<ValueError>([&] { Descent({theta}, -1); }) ==
        "optimizer: needs an lr of at least 0, not -1");
}

TEST_CASE("zero_grad drops the gradients of its parameters", "[optim]") {
  Tensor theta = leaf({1, 2});
  const Tensor bystander = leaf({1});
  const Descent descent({theta}, 0.1);
  (theta.sum() * bystander).sum().backward();
  REQUIRE(theta.grad().defined());
  descent.zero_grad();
  CHECK_FALSE(theta.grad().defined());
  CHECK(bystander.grad().defined());
}

TEST_CASE("an optimiser takes only leaves that require a gradient", "[optim][errors]") {
  CHECK(error_text<ValueError>([] { Descent({}, 0.1); }) == "optimizer: no parameters to step");
  const std::string want =
      "optimizer: a parameter must be a leaf that requires a gradient\n  got    ";
  CHECK(error_text<AutogradError>([] { Descent({ones({2, 3})}, 0.1); }) == want + "(2, 3) float32");
  CHECK(error_text<AutogradError>([] {
          Descent({leaf({1, 2}) * 2.0}, 0.1);
        }) == want + "(2,) float64");
}

TEST_CASE("no optimiser leaves a step on the tape, or another leaf in the place of its parameter",
          "[optim]") {
  const auto newest_step = [] { return leaf({0}).impl().node->sequence(); };
  using Maker = std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>;
  const std::pair<const char*, Maker> makers[] = {
      {"SGD", [](const auto& p) { return std::make_unique<SGD>(p, SGDOptions{.lr = 0.1}); }},
      {"SGD with momentum and decay",
       [](const auto& p) {
         return std::make_unique<SGD>(
             p, SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
       }},
      {"Adam", [](const auto& p) { return std::make_unique<Adam>(p, AdamOptions{}); }},
      {"AdamW",
       [](const auto& p) { return std::make_unique<AdamW>(p, AdamOptions{.amsgrad = true}); }}};
  for (const auto& [name, make] : makers) {
    INFO(name);
    Tensor weight = leaf({1, 2});
    Tensor turned = stored_transposed(random_normal({2, 3}, 1)).requires_grad_();
    const Node* const node = weight.impl().node.get();
    const auto optimizer = make({weight, turned});
    ((weight * 3).sum() + turned.sum()).backward();
    const Tensor gradient = weight.grad();
    const std::uint64_t before = newest_step();
    for (int i = 0; i < 100; ++i) {
      clip_grad_norm_({weight, turned}, 100);
      optimizer->step();
    }
    CHECK(newest_step() == before + 1);
    CHECK(weight.is_leaf());
    CHECK(weight.impl().node.get() == node);
    CHECK(weight.impl().node->ref_count() <= 2);  // this handle's, and the optimiser's
    CHECK_THAT(weight.grad(), HasValues({3, 3}));
    CHECK_THAT(gradient, HasValues({3, 3}));
    CHECK(weight.at({0}) < 1);
  }
}
