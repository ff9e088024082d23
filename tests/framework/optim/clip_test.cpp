// Clipping gradients: by their common norm and by value. PyTorch's results are in
// tests/goldens_torch.
#include "framework/optim/clip.h"

#include <cmath>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// A parameter with this gradient.
Tensor with_gradient(const NestedNumbers& gradient, DType dtype = float64) {
  const Tensor parameter = zeros(gradient.shape(), dtype).requires_grad_();
  parameter.set_grad(tensor(gradient, dtype));
  return parameter;
}

const Tolerance kAsClose{1e-6, 0};  // the 1e-6 beside the norm

}  // namespace

TEST_CASE("C103: clip_grad_norm_ keeps the direction over all gradients", "[clip][cases]") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor a = with_gradient({3}, dtype);
  const Tensor b = with_gradient({4}, dtype);
  SECTION("above the limit") {
    CHECK(clip_grad_norm_({a, b}, 1) == 5);  // the norm before
    CHECK_THAT(a.grad(), HasValues({0.6}, kAsClose));
    CHECK_THAT(b.grad(), HasValues({0.8}, kAsClose));
  }
  SECTION("below the limit nothing moves") {
    CHECK(clip_grad_norm_({a, b}, 10) == 5);
    CHECK_THAT(a.grad(), HasValues({3}, exactly));
    CHECK_THAT(b.grad(), HasValues({4}, exactly));
  }
  SECTION("a limit of 0, and one without end") {
    CHECK(clip_grad_norm_({a, b}, kInf) == 5);
    CHECK_THAT(b.grad(), HasValues({4}, exactly));
    CHECK(clip_grad_norm_({a, b}, 0) == 5);
    CHECK_THAT(a.grad(), HasValues({0}, exactly));
  }
}

TEST_CASE("C103: clip_grad_norm_ of a norm of 0", "[clip][cases]") {
  const Tensor a = with_gradient({0, 0});
  CHECK(clip_grad_norm_({a}, 1) == 0);
  CHECK(clip_grad_norm_({a}, 0) == 0);
  CHECK_THAT(a.grad(), HasValues({0, 0}, exactly));
}

TEST_CASE("clip_grad_norm_ of other norms", "[clip]") {
  const auto parameters = [] { return std::vector{with_gradient({3, -4}), with_gradient({{12}})}; };
  CHECK(clip_grad_norm_(parameters(), 100, 1) == Catch::Approx(19));
  CHECK(clip_grad_norm_(parameters(), 100, 2) == Catch::Approx(13));
  CHECK(clip_grad_norm_(parameters(), 100, 3) == Catch::Approx(std::cbrt(27 + 64 + 1728)));
  CHECK(clip_grad_norm_(parameters(), 100, 0.5) ==
        Catch::Approx(std::pow(std::sqrt(3) + 2 + std::sqrt(12), 2)));
  const std::vector<Tensor> clipped = parameters();
  CHECK(clip_grad_norm_(clipped, 6, kInf) == 12);
  CHECK_THAT(clipped[0].grad(), HasValues({1.5, -2}, kAsClose));
  CHECK_THAT(clipped[1].grad(), HasValues({{6}}, kAsClose));
}

TEST_CASE("C102: the sum of squares neither overflows nor vanishes in float32", "[clip][cases]") {
  const Tensor large = zeros({100}).requires_grad_();
  large.set_grad(full({100}, 1e20));
  CHECK(clip_grad_norm_({large}, 1) == Catch::Approx(1e21));
  CHECK_THAT(large.grad(), IsCloseTo(full({100}, 0.1)));

  const Tensor small = zeros({100}).requires_grad_();
  small.set_grad(full({100}, 1e-30));
  CHECK(clip_grad_norm_({small}, 1) == Catch::Approx(1e-29));
  CHECK_THAT(small.grad(), IsCloseTo(full({100}, 1e-30), exactly));
}

TEST_CASE("C096: a parameter listed twice counts once in the norm", "[clip][cases]") {
  const Tensor theta = with_gradient({1});
  CHECK(clip_grad_norm_({theta, theta}, 0.5) == 1);
  CHECK_THAT(theta.grad(), HasValues({0.5}, kAsClose));
}

TEST_CASE("clipping passes over parameters without a gradient, and takes empty ones", "[clip]") {
  const Tensor without = leaf({1, 2});
  const Tensor frozen = ones({2});
  const Tensor empty = zeros({0, 3}).requires_grad_();
  empty.set_grad(zeros({0, 3}));
  const Tensor a = with_gradient({-3});
  CHECK(clip_grad_norm_({without, frozen, empty, a}, 1) == 3);
  clip_grad_value_({without, frozen, empty, a}, 0.5);
  CHECK_THAT(a.grad(), HasValues({-0.5}, exactly));
  CHECK_FALSE(without.grad().defined());
  CHECK(clip_grad_norm_({}, 1) == 0);
}

TEST_CASE("clip_grad_norm_ lets NaN be seen", "[clip]") {
  for (const double norm_type : {1.0, 2.0, 3.0, kInf}) {
    const Tensor a = with_gradient({1, kNaN});
    const Tensor b = with_gradient({1});
    CHECK(std::isnan(clip_grad_norm_({a, b}, 1, norm_type)));
    CHECK_THAT(b.grad(), HasValues({kNaN}));
  }
}

TEST_CASE("clip_grad_norm_ without a limit only measures", "[clip]") {
  const Tensor a = with_gradient({3, kInf});
  CHECK(clip_grad_norm_({a}, kInf) == kInf);
  CHECK_THAT(a.grad(), HasValues({3, kInf}, exactly));
  const Tensor b = with_gradient({3, kNaN});
  CHECK(std::isnan(clip_grad_norm_({b}, kInf)));
  CHECK_THAT(b.grad(), HasValues({3, kNaN}, exactly));
}

TEST_CASE("clipping takes gradients of any strides, and stays off the tape", "[clip]") {
  const Tensor a = zeros({2, 3}, float64).requires_grad_();
  a.set_grad(stored_transposed(tensor({{3, 0, 0}, {0, 4, 0}}, float64)));
  CHECK(clip_grad_norm_({a}, 1) == 5);
  CHECK_THAT(a.grad(), HasValues({{0.6, 0, 0}, {0, 0.8, 0}}, kAsClose));
  clip_grad_value_({a}, 0.7);
  CHECK_THAT(a.grad(), HasValues({{0.6, 0, 0}, {0, 0.7, 0}}, kAsClose));
  CHECK_FALSE(a.grad().requires_grad());
}

TEST_CASE("clip_grad_value_ holds every element within its bound", "[clip]") {
  const Tensor a = with_gradient({-3, -0.5, 0, 0.25, 7, kInf, -kInf, kNaN});
  clip_grad_value_({a}, 0.5);
  CHECK_THAT(a.grad(), HasValues({-0.5, -0.5, 0, 0.25, 0.5, 0.5, -0.5, kNaN}, exactly));
  clip_grad_value_({a}, 0);
  CHECK_THAT(a.grad(), HasValues({0, 0, 0, 0, 0, 0, 0, kNaN}, exactly));
}

TEST_CASE("clipping refuses limits that are none", "[clip][errors]") {
  CHECK(error_text<ValueError>([] { clip_grad_norm_({leaf({1})}, -1); }) ==
        "clip_grad_norm_: needs max_norm of at least 0 and norm_type above 0, not -1 and 2");
  CHECK(error_text<ValueError>([] { clip_grad_norm_({leaf({1})}, kNaN); }) ==
        "clip_grad_norm_: needs max_norm of at least 0 and norm_type above 0, not nan and 2");
  CHECK(error_text<ValueError>([] { clip_grad_norm_({leaf({1})}, 1, 0); }) ==
        "clip_grad_norm_: needs max_norm of at least 0 and norm_type above 0, not 1 and 0");
  CHECK(error_text<ValueError>([] { clip_grad_value_({leaf({1})}, -0.1); }) ==
        "clip_grad_value_: needs a value of at least 0, not -0.1");
  CHECK(error_text<ValueError>([] { clip_grad_value_({leaf({1})}, kNaN); }) ==
        "clip_grad_value_: needs a value of at least 0, not nan");
}
