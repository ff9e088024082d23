// LayerNorm: normalisation over the last axes, with a learned scale and shift.
#include "layers/layer_norm.h"

#include <sstream>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("LayerNorm gives each row mean 0 and variance 1, then its scale and shift",
          "[layer_norm]") {
  LayerNorm norm({.normalized_shape = {4}, .eps = 0});
  norm.to(float64);
  const Tensor x = tensor({{1, 1, 3, 3}, {10, 10, 30, 30}}, float64);
  CHECK_THAT(norm(x), HasValues({{-1, -1, 1, 1}, {-1, -1, 1, 1}}));
  norm.load_state_dict(
      {{"weight", tensor({1, 2, 3, 4}, float64)}, {"bias", tensor({10, 20, 30, 40}, float64)}});
  CHECK_THAT(norm(x)[1], HasValues({9, 18, 33, 44}));
}

TEST_CASE("LayerNorm's eps keeps a constant row finite", "[layer_norm]") {
  const LayerNorm norm(3);
  CHECK_THAT(norm(full({2, 3}, 5)), IsCloseTo(zeros({2, 3}), exactly));
  LayerNorm wide({.normalized_shape = {2}, .eps = 3});
  CHECK_THAT(wide(tensor({1, 3})), HasValues({-0.5, 0.5}));  // 1 / sqrt(1 + 3)
}

TEST_CASE("LayerNorm normalises over several axes at once", "[layer_norm]") {
  LayerNorm norm({.normalized_shape = {2, 3}});
  norm.to(float64);
  const Tensor x = random_normal({4, 2, 3}, 1) * 3.0 + 1.0;
  const Tensor y = norm(x);
  CHECK_THAT(mean(y, {1, 2}), IsCloseTo(zeros({4}, float64), Tolerance{0, 1e-12}));
  CHECK_THAT(mean(y * y, {1, 2}), IsCloseTo(ones({4}, float64), Tolerance{0, 1e-4}));
  CHECK_THAT(norm(stored_transposed(x)), IsCloseTo(y));
}

TEST_CASE("LayerNorm has right first and second derivatives", "[layer_norm][gradcheck]") {
  const auto check = [](const LayerNormOptions& options, const Tensor& x) {
    LayerNorm norm(options);
    norm.to(float64);
    StateDict state;
    state["weight"] = random_normal(options.normalized_shape, 5);
    if (options.bias) state["bias"] = random_normal(options.normalized_shape, 6);
    norm.load_state_dict(state);
    check_layer_gradients(norm, x);
  };
  check({.normalized_shape = {4}}, random_normal({2, 3, 4}, 1));
  check({.normalized_shape = {4}, .eps = 0.1, .bias = false}, random_normal({3, 4}, 2));
  check({.normalized_shape = {2, 3}}, random_normal({2, 2, 3}, 3));
  check({.normalized_shape = {4}}, stored_transposed(random_normal({2, 3, 4}, 4)));
}

TEST_CASE("LayerNorm takes a batch without samples", "[layer_norm]") {
  const LayerNorm norm(4);
  Tensor x = zeros({0, 3, 4}).requires_grad_();
  const Tensor y = norm(x);
  CHECK(y.shape() == Shape{0, 3, 4});
  y.sum().backward();
  CHECK(x.grad().shape() == Shape{0, 3, 4});
  CHECK_THAT(norm.weight.grad(), IsCloseTo(zeros({4}), exactly));
}

TEST_CASE("LayerNorm starts with a scale of 1 and a shift of 0", "[layer_norm]") {
  const LayerNorm norm(2);
  CHECK_THAT(norm.weight, HasValues({1, 1}, exactly));
  CHECK_THAT(norm.bias, HasValues({0, 0}, exactly));
  CHECK(norm.weight.requires_grad());
  CHECK(norm.bias.requires_grad());
  CHECK_FALSE(LayerNorm({.normalized_shape = {2}, .bias = false}).bias.defined());
  std::ostringstream out;
  out << LayerNorm({.normalized_shape = {2, 3}});
  CHECK(out.str() == "LayerNorm((2, 3))");
}

TEST_CASE("LayerNorm refuses rows of another size", "[layer_norm][errors]") {
  CHECK(error_text<ShapeError>([] {
          LayerNorm(4)(ones({2, 3}));
        }) ==
        "layer_norm: the last axes of x are not (4,)\n"
        "  got    x (2, 3) float32");
  CHECK(error_text<ShapeError>([] {
          LayerNorm({.normalized_shape = {2, 3}})(ones({3}));
        }) ==
        "layer_norm: the last axes of x are not (2, 3)\n"
        "  got    x (3,) float32");
  CHECK(error_text<DTypeError>([] {
          LayerNorm(3)(ones({2, 3}, float64));
        }) ==
        "layer_norm: float64 and float32 are not mixed silently\n"
        "  got    x (2, 3) float64, other (3,) float32\n"
        "  hint   other.to(float64), or model.to(float64) for gradient checks");
}
