// The comparison that the other tests lean on must itself refuse what is wrong.
#include "tests/support/tensor_matchers.h"

#include "framework/ops/creation.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("tensor matchers: refuse another shape, dtype or number") {
  const Tensor want = tensor({{1, 2}, {3, 4}}, float64);
  CHECK_THAT(want, IsCloseTo(want));
  CHECK(difference(want.view({4}), want) == "shape is (4,), wanted (2, 2)");
  CHECK(difference(want.to(float32), want) == "dtype is float32, wanted float64");
  CHECK(difference(zeros({0, 3}), zeros({0, 4})) == "shape is (0, 3), wanted (0, 4)");
  CHECK(difference(Tensor(), want) == "one of the tensors is undefined");
  CHECK_THAT(want + 1e-11, IsCloseTo(want));
  CHECK_THAT(want + 1e-9, !IsCloseTo(want));
  CHECK(difference(tensor({{1, 2}, {3, 5}}, float64), want, Tolerance{0, 0.5}) ==
        "1 of 4 elements differ by more than 0.5, most of all [1, 1]: 5, wanted 4 (off by 1)");
}

TEST_CASE("tensor matchers: NaN and infinities match only themselves") {
  const auto same = [](double got, double want) {
    return difference(tensor(got, float64), tensor(want, float64), Tolerance{1, 1}).empty();
  };
  CHECK(same(kNaN, kNaN));
  CHECK(same(kInf, kInf));
  CHECK(same(-kInf, -kInf));
  CHECK(same(-0.0, 0.0));
  CHECK_FALSE(same(kNaN, 0));
  CHECK_FALSE(same(0, kNaN));
  CHECK_FALSE(same(kInf, -kInf));
  CHECK_FALSE(same(kInf, 1e308));
  CHECK_FALSE(same(1e308, kInf));
  CHECK_FALSE(same(kNaN, kInf));
}

TEST_CASE("tensor matchers: an infinite element does not widen the tolerance of the others") {
  CHECK_THAT(tensor({kInf, 1.001}, float64), !HasValues({kInf, 1}, Tolerance{1e-5, 0}));
}

TEST_CASE("tensor matchers: near zero the absolute tolerance counts") {
  CHECK_THAT(tensor(1e-13, float64), HasValues(0));
  CHECK_THAT(tensor(1e-11, float64), !HasValues(0));
}

TEST_CASE("tensor matchers: integers are exact, also beyond 2^53") {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK_THAT(from_vector<std::int64_t>({large}), IsCloseTo(from_vector<std::int64_t>({large})));
  CHECK_THAT(from_vector<std::int64_t>({large}),
             !IsCloseTo(from_vector<std::int64_t>({large - 1})));
  CHECK_THAT(from_vector<bool>({true}), !IsCloseTo(from_vector<bool>({false})));
}

TEST_CASE("tensor matchers: error_text takes no other type of error") {
  CHECK(error_text<ShapeError>([] { throw ShapeError("one"); }) == "one");
  CHECK(error_text<ShapeError>([] { throw ValueError("one"); }) == "another type of error: one");
  CHECK(error_text<ShapeError>([] {}) == "no error");
}
