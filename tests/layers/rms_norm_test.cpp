// RMSNorm: normalisation by the root mean square, as a layer.
#include "layers/rms_norm.h"

#include "framework/core/error.h"
#include "framework/ops/normalization.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("RMSNorm divides by the root mean square and multiplies by its weight", "[rms_norm]") {
  RMSNorm norm(2);
  CHECK_THAT(norm.weight, HasValues({1, 1}, exactly));
  norm.load_state_dict({{"weight", tensor({1, 10})}});
  // (3, 4): the mean square is 12.5, its root 3.5355339.
  CHECK_THAT(norm(tensor({{3, 4}})), HasValues({{0.84852814, 11.3137085}}));

  const RMSNorm two_axes({.normalized_shape = {3, 4}, .eps = 0.1, .elementwise_affine = false});
  CHECK(two_axes.parameters().empty());
  const Tensor x = random_normal({2, 3, 4}, 1);
  CHECK_THAT(two_axes(x), IsCloseTo(rms_norm(x, {3, 4}, {}, 0.1), exactly));
}

TEST_CASE("RMSNorm adds the machine epsilon of x unless another is given", "[rms_norm]") {
  RMSNorm norm(1);
  const double small = 1e-5;  // its square is below float32's epsilon, 1.19e-7, and above float64's
  CHECK(norm(full({1}, small)).item() == Catch::Approx(small / 3.454e-4).epsilon(1e-3));
  norm.to(float64);
  CHECK(norm(full({1}, small, float64)).item() == Catch::Approx(1.0).epsilon(1e-5));
  CHECK_THAT(norm(zeros({3, 1}, float64)), HasValues({{0}, {0}, {0}}, exactly));
}

TEST_CASE("RMSNorm has right first and second derivatives", "[rms_norm][gradcheck]") {
  RMSNorm norm({.normalized_shape = {4}, .eps = 1e-5});
  norm.to(float64);
  check_layer_gradients(norm, random_normal({2, 3, 4}, 1));
  check_layer_gradients(norm, stored_transposed(random_normal({2, 3, 4}, 2)));
  check_layer_gradients(norm, random_normal({0, 4}, 3));
}

TEST_CASE("RMSNorm prints its shape and refuses other ones", "[rms_norm][errors]") {
  CHECK(RMSNorm(3).description() == "RMSNorm((3,))");
  CHECK(RMSNorm({.normalized_shape = {3}, .elementwise_affine = false}).description() ==
        "RMSNorm((3,), no weight)");
  CHECK(error_text<ValueError>([] { RMSNorm({.normalized_shape = {3}, .eps = -1.0}); }) ==
        "RMSNorm: negative eps -1");
  CHECK(error_text<ShapeError>([] {
          RMSNorm(3)(zeros({2, 4}));
        }) ==
        "rms_norm: the last axes of x are not (3,)\n"
        "  got    x (2, 4) float32");
}
