// Softmax as a layer.
#include "layers/softmax.h"

#include <sstream>

#include "framework/core/error.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("Softmax turns scores into shares of 1, along its axis", "[softmax]") {
  const Tensor x = tensor({{0, 1.0986122886681098}, {3, 3}}, float64);  // log 3
  CHECK_THAT(Softmax()(x), HasValues({{0.25, 0.75}, {0.5, 0.5}}));
  CHECK_THAT(Softmax({.axis = 1})(x), IsCloseTo(Softmax()(x)));
  const Tensor columns = Softmax({.axis = 0})(x);
  CHECK_THAT(columns.sum({0}), HasValues({1, 1}));
  CHECK(columns.at({0, 0}) == Catch::Approx(0.04742587317756678));
  CHECK_THAT(Softmax()(stored_transposed(x)), IsCloseTo(Softmax()(x)));
  CHECK(Softmax()(zeros({0, 3})).shape() == Shape{0, 3});
  CHECK(Softmax()(zeros({3, 0})).shape() == Shape{3, 0});
  // Shifting by a constant changes nothing, however large.
  CHECK_THAT(Softmax()(tensor({1e4, 1e4 + 1.0986122886681098}, float64)), HasValues({0.25, 0.75}));
}

TEST_CASE("Softmax of a slice with nothing in it is NaN, or 0 where that is asked for",
          "[softmax]") {
  const Tensor x = tensor({{-kInf, -kInf}, {-kInf, 5}}, float64);
  CHECK_THAT(Softmax()(x), HasValues({{kNaN, kNaN}, {0, 1}}, exactly));
  const Softmax zero({.when_all_hidden = WhenAllHidden::zero});
  CHECK_THAT(zero(x), HasValues({{0, 0}, {0, 1}}, exactly));
  CHECK_THAT(zero(tensor({kNaN, 1}, float64)), HasValues({kNaN, kNaN}, exactly));
}

TEST_CASE("Softmax has right first and second derivatives", "[softmax][gradcheck]") {
  for (const Index axis : {-1, 0, 1}) {
    INFO("axis " << axis);
    Softmax softmax({.axis = axis});
    check_layer_gradients(softmax, random_normal({2, 3, 4}, 1));
    check_layer_gradients(softmax, stored_transposed(random_normal({2, 3, 4}, 2)));
  }
}

TEST_CASE("Softmax prints its axis, and names an axis that is not there", "[softmax][errors]") {
  std::ostringstream out;
  out << Softmax({.axis = -2});
  CHECK(out.str() == "Softmax(axis -2)");
  CHECK_THROWS_AS(Softmax({.axis = 2})(zeros({2, 3})), ShapeError);
  CHECK(error_text<DTypeError>([] { Softmax()(zeros({2}, int64)); }) ==
        "softmax: needs a floating tensor, not int64\n"
        "  got    x (2,) int64\n"
        "  hint   x.to(float32)");
}
