// SGD: its formula step by step, its first step, and options that make no sense. PyTorch's runs are
// in tests/goldens_torch.
#include "framework/optim/sgd.h"

#include <vector>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Where theta = 1 is after steps with these gradients.
double after(const std::vector<double>& gradients, const SGDOptions& options,
             DType dtype = float64) {
  Tensor theta = leaf({1}, dtype);
  SGD sgd({theta}, options);
  for (const double gradient : gradients) {
    theta.set_grad(tensor({gradient}, dtype));
    sgd.step();
  }
  return theta.at({0});
}

}  // namespace

TEST_CASE("SGD steps against the gradient", "[sgd]") {
  CHECK(after({2}, {.lr = 0.1}) == Catch::Approx(0.8));
  CHECK(after({2, -1}, {.lr = 0.1}) == Catch::Approx(0.9));
  CHECK(after({2}, {.lr = 0.1}, float32) == Catch::Approx(0.8));
  CHECK(after({2}, {}) == Catch::Approx(1 - 2e-3));
}

TEST_CASE("SGD's momentum is a running sum of gradients", "[sgd]") {
  // b: 1, 0.5 + 2, 1.25 + 4
  CHECK(after({1, 2, 4}, {.lr = 0.1, .momentum = 0.5}) ==
        Catch::Approx(1 - 0.1 * (1 + 2.5 + 5.25)));
  // The first gradient counts in full, the later ones by 1 - dampening: 1, 0.5 + 0.5, 0.5 + 1
  CHECK(after({1, 2, 4}, {.lr = 0.1, .momentum = 0.5, .dampening = 0.75}) ==
        Catch::Approx(1 - 0.1 * (1 + 1 + 1.5)));
  // Looking ahead: g + 0.5 b
  CHECK(after({1, 2}, {.lr = 0.1, .momentum = 0.5, .nesterov = true}) ==
        Catch::Approx(1 - 0.1 * (1.5 + 3.25)));
}

TEST_CASE("SGD's weight decay is part of the gradient", "[sgd]") {
  CHECK(after({0}, {.lr = 0.1, .weight_decay = 0.5}) == Catch::Approx(0.95));
  CHECK(after({0, 0}, {.lr = 0.1, .momentum = 1, .weight_decay = 0.5}) ==
        Catch::Approx(0.95 - 0.1 * (0.5 + 0.475)));
}

TEST_CASE("SGD begins each parameter's momentum with its first gradient", "[sgd]") {
  Tensor early = leaf({0});
  Tensor late = leaf({0});
  SGD sgd({early, late}, {.lr = 0.1, .momentum = 0.5, .dampening = 1});
  early.set_grad(tensor({1}, float64));
  sgd.step();
  late.set_grad(tensor({1}, float64));
  sgd.step();
  CHECK_THAT(early, HasValues({-0.15}));
  CHECK_THAT(late, HasValues({-0.1}));
}

TEST_CASE("C096: a parameter listed twice is stepped once by SGD", "[sgd][cases]") {
  Tensor theta = leaf({1});
  SGD sgd({theta, theta}, {.lr = 0.1});
  theta.set_grad(tensor({1}, float64));
  sgd.step();
  CHECK_THAT(theta, HasValues({0.9}));
}

TEST_CASE("SGD takes a parameter without elements", "[sgd]") {
  Tensor empty = zeros({0, 3}).requires_grad_();
  SGD sgd({empty}, {.momentum = 0.9});
  empty.set_grad(zeros({0, 3}));
  sgd.step();
  CHECK(empty.shape() == Shape{0, 3});
}

TEST_CASE("SGD refuses options outside their range", "[sgd][errors]") {
  const auto refused = [](const SGDOptions& options) {
    return error_text<ValueError>([&] { SGD({leaf({1})}, options); });
  };
  const std::string need = "\n  need   dampening in [0, 1], the others at least 0";
  CHECK(refused({.momentum = -1}) ==
        "SGD: an option is outside its range\n"
        "  got    momentum -1, dampening 0, weight_decay 0" +
            need);
  CHECK(refused({.momentum = 0.9, .dampening = 1.5}) ==
        "SGD: an option is outside its range\n"
        "  got    momentum 0.9, dampening 1.5, weight_decay 0" +
            need);
  CHECK(refused({.weight_decay = kNaN}) ==
        "SGD: an option is outside its range\n"
        "  got    momentum 0, dampening 0, weight_decay nan" +
            need);
  CHECK(refused({.lr = -1}) == "optimizer: needs an lr of at least 0, not -1");
  CHECK(refused({.nesterov = true}) ==
        "SGD: nesterov needs a momentum, and no dampening\n"
        "  got    momentum 0, dampening 0");
  CHECK(refused({.momentum = 0.9, .dampening = 0.1, .nesterov = true}) ==
        "SGD: nesterov needs a momentum, and no dampening\n"
        "  got    momentum 0.9, dampening 0.1");
}
