// Parameter groups (C097), and gradients that add up over parts of a batch.
#include "framework/optim/parameter_groups.h"

#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/linear.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/optim/adam.h"
#include "framework/optim/sgd.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

Index elements(const ParameterGroup& group) {
  Index count = 0;
  for (const Tensor& parameter : group.parameters) count += parameter.numel();
  return count;
}

}  // namespace

TEST_CASE("C097: matrices decay; biases, gains and shifts do not", "[optim][cases]") {
  Linear linear(2, 2);
  LayerNorm norm({.normalized_shape = {2}});
  std::vector<Tensor> all = linear.parameters();
  for (const Tensor& parameter : norm.parameters()) all.push_back(parameter);
  const ParameterGroups groups = decay_groups(all);
  const std::vector<ParameterGroup> both(groups.begin(), groups.end());
  REQUIRE(both.size() == 2);
  CHECK(elements(both[0]) == 4);
  CHECK(elements(both[1]) == 6);
  check_all_grouped(groups, all);

  AdamW adam(groups, {.lr = 0.1, .weight_decay = 0.5});
  CHECK(adam.parameters().size() == 4);
  const Tensor weight = linear.weight.detach().clone();
  const Tensor bias = linear.bias.detach().clone();
  for (const Tensor& parameter : all) parameter.set_grad(zeros_like(parameter));
  adam.step();
  CHECK_THAT(linear.weight, IsCloseTo(0.95 * weight));
  CHECK_THAT(linear.bias, IsCloseTo(bias, exactly));
  CHECK_THAT(norm.parameters()[0], HasValues({1, 1}, exactly));
}

TEST_CASE("C097: a parameter in two groups, or in none, is an error", "[optim][cases][errors]") {
  const Tensor a = leaf({1, 2});
  const Tensor b = leaf({{1, 2}});
  CHECK(error_text<ValueError>([&] {
          SGD({{.parameters = {a}}, {.parameters = {b, a}}});
        }) ==
        "optimizer: a parameter is in two groups, 0 and 1\n  got    parameter 0, (2,) float64");
  SGD once({{.parameters = {a, a}}, {.parameters = {b}}});  // twice in one is once
  CHECK(once.parameters().size() == 2);
  check_all_grouped({{.parameters = {a}}, {.parameters = {b}}}, {a, b});
  CHECK(error_text<ValueError>([&] {
          check_all_grouped({{.parameters = {a}}}, {a, b, leaf({3})});
        }) ==
        "check_all_grouped: 2 of 3 parameters are in no group\n"
        "  got    the first is parameter 1, (1, 2) float64");
}

TEST_CASE("groups may be empty, but not all of them, and have no number below 0",
          "[optim][errors]") {
  const Tensor a = leaf({1});
  SGD sgd({{.parameters = {}}, {.parameters = {a}}});
  CHECK(sgd.parameters().size() == 1);
  CHECK(error_text<ValueError>([] {
          SGD({{.parameters = {}}, {.parameters = {}}});
        }) == "optimizer: no parameters to step");
  CHECK(error_text<ValueError>([&] { SGD({{.parameters = {a}, .lr_factor = -1}}); }) ==
        "optimizer: group 0 has a number below 0\n  got    lr_factor -1, weight_decay 0");
  CHECK(error_text<ValueError>([&] {
          SGD({{.parameters = {leaf({2})}}, {.parameters = {a}, .weight_decay = kNaN}});
        }) == "optimizer: group 1 has a number below 0\n  got    lr_factor 1, weight_decay nan");
}

TEST_CASE("a group has its own decay and its share of the rate, whatever that is set to",
          "[optim]") {
  Tensor slow = leaf({1});
  Tensor fast = leaf({1});
  Tensor decaying = leaf({1});
  const std::vector<ParameterGroup> groups{{.parameters = {slow}, .lr_factor = 0.5},
                                           {.parameters = {fast}, .lr_factor = 2},
                                           {.parameters = {decaying}, .weight_decay = 1.0}};
  SGD sgd(groups, {.lr = 0.1});
  const auto step = [&] {
    for (const Tensor& each : sgd.parameters()) each.set_grad(tensor({1}, float64));
    sgd.step();
  };
  step();
  CHECK_THAT(slow, HasValues({0.95}));
  CHECK_THAT(fast, HasValues({0.8}));
  CHECK_THAT(decaying, HasValues({0.8}));
  sgd.set_lr(0.2);
  step();
  CHECK_THAT(slow, HasValues({0.85}));
  CHECK_THAT(fast, HasValues({0.4}));
  CHECK_THAT(decaying, HasValues({0.8 - 0.2 * 1.8}));

  // Adam with a group of decay is Adam with that decay; AdamW's decay goes with the group's rate.
  Tensor theta = leaf({1});
  Adam adam({{.parameters = {theta}, .weight_decay = 0.1}}, {.lr = 0.1});
  theta.set_grad(tensor({0}, float64));
  adam.step();
  CHECK_THAT(theta, HasValues({0.9}, Tolerance{1e-6, 0}));
  Tensor other = leaf({1});
  AdamW adamw({{.parameters = {other}, .lr_factor = 2, .weight_decay = 0.1}}, {.lr = 0.1});
  other.set_grad(tensor({0}, float64));
  adamw.step();
  CHECK_THAT(other, HasValues({0.98}));
}

TEST_CASE("one group is the plain list, bit for bit", "[optim]") {
  Tensor plain = random_normal({50}, 1, float32).requires_grad_();
  Tensor grouped = random_normal({50}, 1, float32).requires_grad_();
  const AdamOptions options{.lr = 0.03, .weight_decay = 0.1};
  AdamW first({plain}, options);
  AdamW second({{.parameters = {grouped}}}, options);
  for (std::uint64_t step = 0; step < 20; ++step) {
    plain.set_grad(random_normal({50}, step, float32));
    grouped.set_grad(random_normal({50}, step, float32));
    first.step();
    second.step();
  }
  CHECK_THAT(grouped, IsCloseTo(plain, exactly));
}

TEST_CASE("ragged parts of a batch, each with its share, are the batch", "[optim]") {
  const Tensor x = random_normal({7, 3}, 1);
  const Tensor target = tensor({0, 1, -100, 2, 1, 0, 1}, int64);  // one of them is padding
  const Tensor start = random_normal({3, 3}, 2);
  const auto stepped = [&](const std::vector<Index>& bounds) {
    Tensor w = start.clone().requires_grad_();
    SGD sgd({w}, {.lr = 0.5});
    sgd.zero_grad();
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const Tensor logits = matmul(x.slice(0, bounds[i], bounds[i + 1]), w);
      const Tensor part = target.slice(0, bounds[i], bounds[i + 1]);
      (cross_entropy(logits, part, {.reduction = Reduction::sum}) / 6.0).backward();
    }
    sgd.step();
    return w.detach();
  };
  Tensor w = start.clone().requires_grad_();
  SGD sgd({w}, {.lr = 0.5});
  cross_entropy(matmul(x, w), target).backward();
  sgd.step();
  CHECK_THAT(stepped({0, 7}), IsCloseTo(w.detach()));
  CHECK_THAT(stepped({0, 1, 4, 7}), IsCloseTo(w.detach()));
  CHECK_THAT(stepped({0, 2, 3, 7}), IsCloseTo(w.detach()));  // a part that is all padding
}
