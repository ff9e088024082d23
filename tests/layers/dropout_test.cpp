// Dropout as a layer.
#include "layers/dropout.h"

#include <algorithm>
#include <vector>

#include "framework/core/error.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("Dropout drops a share p of its input and scales up the rest", "[dropout]") {
  for (const double p : {0.1, 0.5, 0.9}) {
    INFO("p " << p);
    const Dropout dropout(p);
    manual_seed(3);
    const std::vector<double> y = dropout(ones({100, 100}, float64)).to_vector<double>();
    const auto dropped = std::count(y.begin(), y.end(), 0.0);
    CHECK(static_cast<double>(dropped) / 10000.0 == Catch::Approx(p).margin(0.02));  // 4 deviations
    for (const double number : y) {
      if (number != 0.0) REQUIRE(number == Catch::Approx(1 / (1 - p)));
    }
  }
}

TEST_CASE("Dropout in eval, and with p 0, gives back the very tensor", "[dropout]") {
  const Tensor x = random_normal({3, 4}, 1);
  Dropout dropout(0.5);
  CHECK_FALSE(dropout(x).is_same(x));
  dropout.eval();
  CHECK(dropout(x).is_same(x));
  dropout.train();
  CHECK_FALSE(dropout(x).is_same(x));
  CHECK(Dropout(0.0)(x).is_same(x));
  CHECK_THAT(Dropout(1.0)(x), IsCloseTo(zeros({3, 4}, float64), exactly));
  CHECK(Dropout()(ones({0, 4})).shape() == Shape{0, 4});
}

TEST_CASE("Dropout draws anew each time, and the same from the same seed", "[dropout]") {
  const Dropout dropout(0.5);
  const Tensor x = random_normal({8, 8}, 1);
  manual_seed(1);
  const Tensor first = dropout(x);
  const Tensor second = dropout(x);
  CHECK(difference(first, second) != "");
  manual_seed(1);
  CHECK_THAT(dropout(x), IsCloseTo(first, exactly));
  CHECK_THAT(dropout(stored_transposed(x)), IsCloseTo(second, exactly));  // by place, not by memory
}

TEST_CASE("Dropout has right first and second derivatives", "[dropout][gradcheck]") {
  Dropout dropout(0.4);
  check_layer_gradients(dropout, {random_normal({3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
    manual_seed(7);  // the same elements at every call
    return dropout(x[0] * x[0]);
  });
  dropout.eval();
  check_layer_gradients(dropout, random_normal({3, 4}, 1));
}

TEST_CASE("Dropout left on is found by gradcheck", "[dropout][gradcheck]") {
  const Dropout dropout(0.5);
  const GradcheckReport report =
      gradcheck([&](const Tensor& x) { return dropout(x); }, {random_normal({8, 8}, 1)});
  CHECK_FALSE(report.passed());
}

TEST_CASE("Dropout refuses a p that is no probability", "[dropout][errors]") {
  CHECK(error_text<ValueError>([] { Dropout(1.5); }) == "Dropout: p 1.5 is outside 0..1");
  CHECK(error_text<ValueError>([] { Dropout(-0.1); }) == "Dropout: p -0.1 is outside 0..1");
  CHECK(error_text<ValueError>([] { Dropout{kNaN}; }) == "Dropout: p nan is outside 0..1");
  CHECK(error_text<DTypeError>([] { Dropout(0.5)(ones({2}, int64)); }) ==
        "dropout: needs a floating tensor, not int64\n"
        "  got    x (2,) int64\n"
        "  hint   x.to(float32)");
}
