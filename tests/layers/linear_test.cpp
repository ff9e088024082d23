// Linear: an affine map of the last axis.
#include "layers/linear.h"

#include "framework/core/error.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("Linear multiplies by its weight transposed and adds its bias", "[linear]") {
  Linear linear(3, 2);
  linear.load_state_dict({{"weight", tensor({{1, 2, 3}, {4, 5, 6}})}, {"bias", tensor({10, 20})}});
  CHECK_THAT(linear(tensor({1, 0, -1})), HasValues({8, 18}));
  CHECK_THAT(linear(tensor({{1, 0, -1}, {0, 1, 1}})), HasValues({{8, 18}, {15, 31}}));
  CHECK_THAT(linear(tensor({{{1, 1, 1}}, {{0, 0, 0}}})), HasValues({{{16, 35}}, {{10, 20}}}));
  CHECK(linear(ones({2, 3, 4, 5, 3})).shape() == Shape{2, 3, 4, 5, 2});

  Linear without(3, 2, false);
  CHECK_FALSE(without.bias.defined());
  without.load_state_dict({{"weight", linear.weight.detach()}});
  CHECK_THAT(without(tensor({1, 0, -1})), HasValues({-2, -2}));
}

TEST_CASE("Linear has right first and second derivatives", "[linear][gradcheck]") {
  for (const bool bias : {true, false}) {
    manual_seed(1);
    Linear linear(3, 4, bias);
    linear.to(float64);
    for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{2, 5, 3}, Shape{0, 3}}) {
      INFO(shape);
      check_layer_gradients(linear, random_normal(shape, 2));
    }
    check_layer_gradients(linear, stored_transposed(random_normal({2, 5, 3}, 3)));
  }
}

TEST_CASE("Linear takes strided inputs and empty batches", "[linear]") {
  const Linear linear(3, 4);
  const Tensor x = random_normal({2, 5, 3}, 1, float32);
  CHECK_THAT(linear(stored_transposed(x)), IsCloseTo(linear(x)));
  CHECK_THAT(linear(x.slice(1, 0, 5, 2)), IsCloseTo(linear(x).slice(1, 0, 5, 2)));

  Tensor empty = zeros({0, 5, 3}).requires_grad_();
  const Tensor y = linear(empty);
  CHECK(y.shape() == Shape{0, 5, 4});
  y.sum().backward();
  CHECK(empty.grad().shape() == Shape{0, 5, 3});
  CHECK_THAT(linear.weight.grad(), IsCloseTo(zeros({4, 3}), exactly));
  CHECK_THAT(linear.bias.grad(), IsCloseTo(zeros({4}), exactly));
  CHECK(Linear(3, 0)(x).shape() == Shape{2, 5, 0});
}

TEST_CASE("Linear starts with PyTorch's numbers", "[linear]") {
  // torch.manual_seed(42); torch.nn.Linear(2, 1): three uniform draws, between +-1/sqrt(2).
  manual_seed(42);
  const Linear linear(2, 1);
  CHECK_THAT(linear.weight, HasValues({{0.540610, 0.586904}}, Tolerance{0, 1e-6}));
  CHECK_THAT(linear.bias, HasValues({-0.165656}, Tolerance{0, 1e-6}));
  CHECK(linear.weight.dtype() == float32);
  CHECK(linear.weight.requires_grad());
  CHECK(linear.bias.requires_grad());

  manual_seed(0);  // the first numbers of q_linear in seed program 000
  const Linear wide(8, 8);
  CHECK_THAT(wide.weight[0].slice(0, 0, 3),
             HasValues({-0.00264699059, 0.189661443, -0.290990382}, Tolerance{0, 1e-7}));
  CHECK_THAT(wide.bias.slice(0, 0, 3),
             HasValues({0.194090918, -0.0446245782, 0.0134992143}, Tolerance{0, 1e-7}));
}

TEST_CASE("two equal layers start differently, and a second run as the first", "[linear]") {
  const auto weights = [] {
    manual_seed(3);
    const Linear first(8, 8);
    const Linear second(8, 8);
    return std::vector<Tensor>{first.weight.detach(), second.weight.detach(), first.bias.detach(),
                               second.bias.detach()};
  };
  const std::vector<Tensor> run = weights();
  const std::vector<Tensor> again = weights();
  CHECK(difference(run[0], run[1]) != "");
  CHECK(difference(run[2], run[3]) != "");
  for (std::size_t i = 0; i < run.size(); ++i) CHECK_THAT(again[i], IsCloseTo(run[i], exactly));
  const Linear unseeded(8, 8);
  const Linear another(8, 8);
  CHECK(difference(unseeded.weight.detach(), another.weight.detach()) != "");
}

TEST_CASE("Linear refuses what it cannot map", "[linear][errors]") {
  const std::string need = "\n  need   in_features of at least 1, out_features of at least 0";
  CHECK(error_text<ValueError>([] { Linear(0, 3); }) ==
        "Linear: cannot map 0 features to 3" + need);
  CHECK(error_text<ValueError>([] { Linear(3, -1); }) ==
        "Linear: cannot map 3 features to -1" + need);
  const Linear linear(3, 4);
  CHECK(error_text<ShapeError>([&] {
          linear(ones({2, 5}));
        }) ==
        "linear: x has 5 features, the weight takes 3\n"
        "  got    x (2, 5) float32, weight (4, 3) float32\n"
        "  need   x (..., 3)");
  CHECK(error_text<ShapeError>([&] { linear(tensor(1)); }) ==
        "linear: x has 0 features, the weight takes 3\n"
        "  got    x () float32, weight (4, 3) float32\n"
        "  need   x (..., 3)");
  CHECK(error_text<DTypeError>([&] {
          linear(ones({2, 3}, float64));
        }) ==
        "linear: float64 and float32 are not mixed silently\n"
        "  got    x (2, 3) float64, other (4, 3) float32\n"
        "  hint   other.to(float64), or model.to(float64) for gradient checks");
  CHECK(error_text<DTypeError>([&] {
          linear(ones({2, 3}, int64));
        }) ==
        "linear: needs a floating tensor, not int64\n"
        "  got    x (2, 3) int64\n"
        "  hint   x.to(float32)");
}
