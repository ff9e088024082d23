// Rotary positions: both layouts by hand, what rotations keep, and what does not fit.
#include "framework/ops/rotary.h"

#include <cmath>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("rotary_embedding: pairs turn by position times their frequency") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}, dtype);
  const auto turned = [](double a, double b, double angle) {
    return std::pair(a * std::cos(angle) - b * std::sin(angle),
                     a * std::sin(angle) + b * std::cos(angle));
  };
  const Tensor halves = rotary_embedding(x);  // pairs (1, 3) and (2, 4); frequencies 1 and 1/100
  const Tensor beside = rotary_embedding(x, 0, 10000, RotaryPairs::interleaved);
  for (Index t = 0; t < 3; ++t) {
    const auto position = static_cast<double>(t);
    const auto [a, c] = turned(1, 3, position);
    const auto [b, d] = turned(2, 4, position / 100);
    CHECK_THAT(halves[t], HasValues({a, b, c, d}));
    const auto [p, q] = turned(1, 2, position);
    const auto [r, s] = turned(3, 4, position / 100);
    CHECK_THAT(beside[t], HasValues({p, q, r, s}));
  }
  CHECK_THAT(halves[0], IsCloseTo(x[0], exactly));
  CHECK(halves.dtype() == dtype);
}

TEST_CASE("rotary_embedding: goes on from a first position, with another base") {
  const Tensor x = random_normal({2, 3, 5, 6}, 1);
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    const Tensor whole = rotary_embedding(x, 0, 100, pairs);
    CHECK_THAT(rotary_embedding(x.slice(2, 3), 3, 100, pairs), IsCloseTo(whole.slice(2, 3)));
    // Turning at one position by i and then by j is turning by i + j.
    const Tensor one = x.slice(2, 0, 1);
    CHECK_THAT(rotary_embedding(rotary_embedding(one, 7, 100, pairs), -5, 100, pairs),
               IsCloseTo(rotary_embedding(one, 2, 100, pairs)));
  }
}

TEST_CASE("rotary_embedding: the product of two depends on their distance only") {
  const Tensor query = random_normal({1, 8}, 1);
  const Tensor key = random_normal({1, 8}, 2);
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    const auto product = [&](Index i, Index j) {
      return sum(rotary_embedding(query, i, 50, pairs) * rotary_embedding(key, j, 50, pairs));
    };
    CHECK_THAT(product(9, 4), IsCloseTo(product(5, 0)));
    CHECK_THAT(product(3, 3), IsCloseTo(sum(query * key)));
    CHECK(difference(product(9, 4), product(9, 5)) != "");
    CHECK_THAT(norm(rotary_embedding(query, 13, 50, pairs)), IsCloseTo(norm(query)));
  }
}

TEST_CASE("rotary_embedding: with angles of one's own, for each or for all") {
  const Tensor x = random_normal({2, 3, 4}, 1);
  const Tensor angles = random_normal({3, 2}, 2);
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    const Tensor y = rotary_embedding(x, cos(angles), sin(angles), pairs);
    CHECK(y.shape() == x.shape());
    CHECK_THAT(y[1], IsCloseTo(rotary_embedding(x[1], cos(angles), sin(angles), pairs)));
    const Tensor back = rotary_embedding(y, cos(angles), -sin(angles), pairs);
    CHECK_THAT(back, IsCloseTo(x));
    const Tensor stretched = angles.unsqueeze(0).expand({2, 3, 2});
    CHECK_THAT(rotary_embedding(x, cos(stretched), sin(stretched), pairs), IsCloseTo(y));
    CHECK_THAT(rotary_embedding(stored_transposed(x), cos(angles), sin(angles), pairs),
               IsCloseTo(y));
  }
}

TEST_CASE("rotary_embedding: the gradient turns back") {
  const Tensor x = random_normal({3, 4}, 1).requires_grad_();
  const Tensor g = random_normal({3, 4}, 2);
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
    const Tensor y = rotary_embedding(x, 1, 10, pairs);
    const Tensor back = gradients({y}, {x}, {.grad_outputs = {g}})[0];
    CHECK_THAT(rotary_embedding(back, 1, 10, pairs), IsCloseTo(g));
  }
}

// C034
TEST_CASE("rotary_embedding: sizes of 0") {
  CHECK(rotary_embedding(zeros({2, 0, 4})).shape() == Shape{2, 0, 4});
  CHECK(rotary_embedding(zeros({0, 3, 4})).shape() == Shape{0, 3, 4});
  CHECK(rotary_embedding(zeros({3, 0})).shape() == Shape{3, 0});
}

TEST_CASE("rotary_embedding: what does not fit") {
  CHECK(error_text<ShapeError>([] {
          rotary_embedding(zeros({2, 3}));
        }) == "rotary_embedding: needs (..., length, d) with an even d\n  got    x (2, 3) float32");
  CHECK(error_text<ShapeError>([] { rotary_embedding(zeros({4})); }) ==
        "rotary_embedding: needs (..., length, d) with an even d\n  got    x (4,) float32");
  CHECK(error_text<DTypeError>([] {
          rotary_embedding(zeros({2, 4}, int64));
        }) ==
        "rotary_embedding: needs a floating tensor, not int64\n"
        "  got    x (2, 4) int64\n"
        "  hint   x.to(float32)");
  for (const double base : {0.0, -1.0, kNaN}) {
    CHECK(error_text<ValueError>([&] {
            rotary_embedding(zeros({2, 4}), 0, base);
          }) == text("rotary_embedding: base must be above 0, not ", base));
  }
  CHECK_THROWS_AS(rotary_embedding(zeros({2, 4}), ones({3, 2}), ones({3, 2})), ShapeError);
  CHECK_THROWS_AS(rotary_embedding(zeros({2, 4}), ones({2, 2}, float64), ones({2, 2}, float64)),
                  DTypeError);
}
