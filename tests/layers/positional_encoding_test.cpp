// Positions, learned and sinusoidal.
#include "layers/positional_encoding.h"

#include <cmath>
#include <sstream>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/random.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("SinusoidalPositions are sines and cosines of ever longer waves", "[positions]") {
  for (const Index d_model : {6, 5, 1}) {
    const SinusoidalPositions positions({.max_len = 50, .d_model = d_model});
    const Tensor table = positions(zeros({1, 50, d_model}, float64))[0];
    for (Index p = 0; p < 50; ++p) {
      for (Index i = 0; 2 * i < d_model; ++i) {
        INFO("position " << p << ", pair " << i << " of " << d_model);
        const double angle = double(p) / std::pow(10000.0, double(2 * i) / double(d_model));
        CHECK(table.at({p, 2 * i}) == Catch::Approx(std::sin(angle)).margin(1e-12));
        if (2 * i + 1 < d_model) {
          CHECK(table.at({p, 2 * i + 1}) == Catch::Approx(std::cos(angle)).margin(1e-12));
        }
      }
    }
  }
  // The first rows for d_model 4: waves of length 2 pi and 200 pi.
  const SinusoidalPositions four({.max_len = 3, .d_model = 4});
  CHECK_THAT(four(zeros({2, 2, 4}))[1],
             HasValues({{0, 1, 0, 1}, {0.84147098, 0.54030231, 0.00999983, 0.99995}}));
}

TEST_CASE("SinusoidalPositions are added in the dtype of x, and have nothing to learn",
          "[positions]") {
  const SinusoidalPositions positions({.max_len = 5, .d_model = 4});
  CHECK(positions.parameters().empty());
  const Tensor x = random_normal({2, 3, 4}, 1);
  const Tensor y = positions(x);
  CHECK_THAT(y - x, IsCloseTo(positions(zeros({2, 3, 4}, float64)), Tolerance{0, 1e-14}));
  CHECK(positions(x.to(float32)).dtype() == float32);
  CHECK_THAT(positions(x.to(float32)), IsCloseTo(y.to(float32)));
}

TEST_CASE("LearnedPositions adds one row of its table per position", "[positions]") {
  LearnedPositions positions({.max_len = 3, .d_model = 2});
  positions.load_state_dict({{"weight", tensor({{1, 2}, {3, 4}, {5, 6}})}});
  CHECK_THAT(positions(tensor({{{10, 10}, {20, 20}}, {{30, 30}, {40, 40}}})),
             HasValues({{{11, 12}, {23, 24}}, {{31, 32}, {43, 44}}}));
  CHECK_THAT(positions(zeros({1, 3, 2}))[0], IsCloseTo(positions.weight.detach()));

  CHECK_THAT(positions(zeros({1, 2, 2}), 1)[0], HasValues({{3, 4}, {5, 6}}));  // from position 1
  CHECK(positions(zeros({1, 0, 2}), 3).shape() == Shape{1, 0, 2});

  positions(zeros({4, 2, 2})).sum().backward();  // each position of four samples, and none beyond
  CHECK_THAT(positions.weight.grad(), HasValues({{4, 4}, {4, 4}, {0, 0}}, exactly));
}

TEST_CASE("positions are added to any number of samples, and to one without a batch",
          "[positions]") {
  const LearnedPositions learned({.max_len = 4, .d_model = 2});
  const SinusoidalPositions fixed({.max_len = 4, .d_model = 2});
  const Tensor x = random_normal({2, 3, 4, 2}, 1, float32);
  CHECK_THAT(learned(x[1][2]), IsCloseTo(learned(x)[1][2]));
  CHECK_THAT(fixed(x[1][2]), IsCloseTo(fixed(x)[1][2]));
}

TEST_CASE("LearnedPositions starts with 0.02 times PyTorch's randn", "[positions]") {
  manual_seed(42);
  const LearnedPositions positions({.max_len = 40, .d_model = 25});
  manual_seed(42);
  CHECK_THAT(positions.weight, IsCloseTo(randn({40, 25}) * 0.02));
  CHECK(positions.weight.requires_grad());
  CHECK(positions.weight.is_leaf());
}

TEST_CASE("positions have right first and second derivatives", "[positions][gradcheck]") {
  LearnedPositions learned({.max_len = 4, .d_model = 2});
  learned.to(float64);
  SinusoidalPositions fixed({.max_len = 4, .d_model = 2});
  for (const Tensor& x : {random_normal({2, 3, 2}, 1), random_normal({2, 4, 2}, 2),
                          stored_transposed(random_normal({2, 3, 2}, 3))}) {
    const auto squared = [](const Layer& layer) {  // of second order in all that it is given
      return [&layer](const std::vector<Tensor>& given) {
        const Tensor y = layer(given[0]);
        return y * y;
      };
    };
    check_layer_gradients(learned, {x}, squared(learned));
    check_layer_gradients(fixed, {x}, squared(fixed));
  }
}

TEST_CASE("positions take strided inputs and empty batches", "[positions]") {
  const LearnedPositions learned({.max_len = 4, .d_model = 2});
  const SinusoidalPositions fixed({.max_len = 4, .d_model = 2});
  const Tensor x = random_normal({2, 3, 2}, 1, float32);
  CHECK_THAT(learned(stored_transposed(x)), IsCloseTo(learned(x), exactly));
  CHECK_THAT(fixed(stored_transposed(x)), IsCloseTo(fixed(x), exactly));
  CHECK(learned(zeros({0, 3, 2})).shape() == Shape{0, 3, 2});
  CHECK(fixed(zeros({2, 0, 2})).shape() == Shape{2, 0, 2});
}

TEST_CASE("positions beyond the table are errors", "[positions][errors]") {
  const LearnedPositions learned({.max_len = 4, .d_model = 2});
  const SinusoidalPositions fixed({.max_len = 4, .d_model = 2});
  CHECK(error_text<ShapeError>([&] {
          learned(zeros({1, 5, 2}));
        }) ==
        "LearnedPositions: x does not fit the table of positions\n"
        "  got    x (1, 5, 2) float32\n"
        "  need   (..., up to 4, 2)");
  CHECK(error_text<ShapeError>([&] {
          fixed(zeros({1, 4, 3}));
        }) ==
        "SinusoidalPositions: x does not fit the table of positions\n"
        "  got    x (1, 4, 3) float32\n"
        "  need   (..., up to 4, 2)");
  CHECK(error_text<ShapeError>([&] { fixed(zeros({2})); }) ==
        "SinusoidalPositions: x does not fit the table of positions\n"
        "  got    x (2,) float32\n"
        "  need   (..., up to 4, 2)");
  std::ostringstream out;
  out << learned << " " << fixed;
  CHECK(out.str() == "LearnedPositions(4, 2) SinusoidalPositions(4, 2)");
}
