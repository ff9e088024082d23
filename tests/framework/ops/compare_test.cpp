// Comparisons and logic: what NaN, infinity and mixed numbers compare as, what broadcasts, and that
// nothing is on the tape.
#include "framework/ops/compare.h"

#include <limits>

#include "framework/ops/arithmetic.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("compare: two tensors") {
  const Tensor x = tensor({1, 2, 3, kNaN, kInf, 0.0}, float64);
  const Tensor other = tensor({2, 2, 2, kNaN, kInf, -0.0}, float64);
  CHECK_THAT(eq(x, other), IsCloseTo(from_vector<bool>({false, true, false, false, true, true})));
  CHECK_THAT(ne(x, other), IsCloseTo(from_vector<bool>({true, false, true, true, false, false})));
  CHECK_THAT(lt(x, other), IsCloseTo(from_vector<bool>({true, false, false, false, false, false})));
  CHECK_THAT(le(x, other), IsCloseTo(from_vector<bool>({true, true, false, false, true, true})));
  CHECK_THAT(gt(x, other), IsCloseTo(from_vector<bool>({false, false, true, false, false, false})));
  CHECK_THAT(ge(x, other), IsCloseTo(from_vector<bool>({false, true, true, false, true, true})));
}

TEST_CASE("compare: a tensor and a number") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({1, 2, 3}, dtype);
  CHECK_THAT(eq(x, 2), HasValues({0, 1, 0}));
  CHECK_THAT(ne(x, 2), HasValues({1, 0, 1}));
  CHECK_THAT(lt(x, 2), HasValues({1, 0, 0}));
  CHECK_THAT(le(x, 2), HasValues({1, 1, 0}));
  CHECK_THAT(gt(x, 2), HasValues({0, 0, 1}));
  CHECK_THAT(ge(x, 2), HasValues({0, 1, 1}));
  CHECK(eq(x, 2).dtype() == boolean);
}

TEST_CASE("compare: an integer with a fraction, infinity or NaN") {
  const Tensor x = tensor({0, 1}, int64);
  CHECK_THAT(lt(x, 0.5), HasValues({1, 0}));
  CHECK_THAT(eq(x, 0.5), HasValues({0, 0}));
  CHECK_THAT(lt(x, kInf), HasValues({1, 1}));
  CHECK_THAT(ne(x, kNaN), HasValues({1, 1}));
  CHECK_THAT(gt(tensor({0, 1}, boolean), 0.5), HasValues({0, 1}));
}

TEST_CASE("compare: integers are exact beyond 2^53") {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK_THAT(eq(from_vector<std::int64_t>({large}), from_vector<std::int64_t>({large - 1})),
             HasValues({0}));
  CHECK_THAT(gt(from_vector<std::int64_t>({large}), from_vector<std::int64_t>({large - 1})),
             HasValues({1}));
}

TEST_CASE("compare: broadcasts and reads any strides") {
  const Tensor column = tensor({{1}, {2}}, float64);
  const Tensor row = tensor({1, 2, 3}, float64);
  CHECK_THAT(lt(column, row), HasValues({{0, 1, 1}, {0, 0, 1}}));
  const Tensor x = tensor({{1, 2}, {3, 4}}, float64);
  CHECK_THAT(gt(x.transpose(0, 1), x), HasValues({{0, 1}, {0, 0}}));
  CHECK_THAT(le(x.slice(1, 1), 2), HasValues({{1}, {0}}));
  CHECK(eq(zeros({0, 3}), zeros({3})).shape() == Shape{0, 3});
}

TEST_CASE("compare: the results are off the tape") {
  const Tensor x = leaf({1, 2});
  CHECK_FALSE(eq(x, x).requires_grad());
  CHECK_FALSE(lt(x, 1).requires_grad());
}

TEST_CASE("compare: logic") {
  const Tensor a = from_vector<bool>({false, false, true, true});
  const Tensor b = from_vector<bool>({false, true, false, true});
  CHECK_THAT(logical_or(a, b), HasValues({0, 1, 1, 1}));
  CHECK_THAT(logical_and(a, b), HasValues({0, 0, 0, 1}));
  CHECK_THAT(logical_xor(a, b), HasValues({0, 1, 1, 0}));
  CHECK_THAT(logical_not(a), HasValues({1, 1, 0, 0}));
  CHECK_THAT(logical_and(a.view({4, 1}), b),
             HasValues({{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 0, 1}}));
}

TEST_CASE("compare: any and all") {
  CHECK(any(from_vector<bool>({false, true})));
  CHECK_FALSE(any(from_vector<bool>({false, false})));
  CHECK(all(from_vector<bool>({true, true})));
  CHECK_FALSE(all(from_vector<bool>({false, true})));
  CHECK_FALSE(any(zeros({0}, boolean)));
  CHECK(all(zeros({0}, boolean)));
  CHECK(any(tensor({0, kNaN})));
  CHECK_FALSE(all(tensor({1, 0}, int64)));
}

// C142: the kinds of comparison that go wrong.
TEST_CASE("compare: allclose") {
  const auto close = [](double a, double b) {
    return allclose(tensor(a, float64), tensor(b, float64));
  };
  CHECK(close(1, 1 + 9e-6));
  CHECK_FALSE(close(1, 1 + 2e-5));
  CHECK(close(0, 1e-9));
  CHECK_FALSE(close(0, 2e-8));
  CHECK(close(kInf, kInf));
  CHECK_FALSE(close(kInf, -kInf));
  CHECK_FALSE(close(kInf, 1));
  CHECK_FALSE(close(1, kInf));
  CHECK_FALSE(close(kNaN, kNaN));
  CHECK_FALSE(close(kNaN, 1));
  CHECK_FALSE(close(1, kNaN));
  CHECK(allclose(tensor({kNaN, 1}), tensor({kNaN, 1}), 0, 0, true));
  CHECK_FALSE(allclose(tensor({kNaN, 1}), tensor({1, kNaN}), 0, 0, true));
  CHECK_FALSE(allclose(zeros({0, 3}), zeros({0, 4})));
  CHECK_FALSE(allclose(zeros({2}), zeros({2}, float64)));
  CHECK_FALSE(allclose(zeros({2}), zeros({1, 2})));
  CHECK(allclose(tensor({{1, 2}, {3, 4}}).transpose(0, 1), tensor({{1, 3}, {2, 4}})));
}

TEST_CASE("compare: what cannot be compared") {
  CHECK(error_text<DTypeError>([] { eq(zeros({2}), zeros({2}, float64)); }) ==
        "eq: float32 and float64 are not mixed silently\n"
        "  got    x (2,) float32, other (2,) float64\n"
        "  hint   other.to(float32), or model.to(float64) for gradient checks");
  CHECK(error_text<ShapeError>([] {
          lt(zeros({2, 3}), zeros({2}));
        }) ==
        "lt: shapes do not broadcast (3 vs 2 on axis 1)\n"
        "  got    x (2, 3), other (2,)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  CHECK(error_text<DTypeError>([] { logical_or(zeros({1}), zeros({1}, boolean)); }) ==
        "logical_or: x must be bool, not float32\n"
        "  got    x (1,) float32\n"
        "  hint   x.to(boolean)");
  CHECK(error_text<DTypeError>([] { logical_and(zeros({1}, boolean), zeros({1}, int64)); }) ==
        "logical_and: other must be bool, not int64\n"
        "  got    other (1,) int64\n"
        "  hint   other.to(boolean)");
  CHECK_THROWS_AS(logical_not(zeros({1})), DTypeError);
}

TEST_CASE("compare: isnan and isinf") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({1, kNaN, kInf, -kInf, 0}, dtype);
  CHECK_THAT(isnan(x), IsCloseTo(from_vector<bool>({false, true, false, false, false})));
  CHECK_THAT(isinf(x), IsCloseTo(from_vector<bool>({false, false, true, true, false})));
  CHECK_FALSE(isnan(leaf({1, 2})).requires_grad());
  CHECK_FALSE(isinf(leaf({1, 2})).requires_grad());
  CHECK(isnan(zeros({0, 2}, dtype)).shape() == Shape{0, 2});
  CHECK(isinf(zeros({0, 2}, dtype)).shape() == Shape{0, 2});
  const DType whole = GENERATE(int64, boolean);
  CHECK_THAT(isnan(tensor({1, 0}, whole)), HasValues({0, 0}));
  CHECK_THAT(isinf(tensor({1, 0}, whole)), HasValues({0, 0}));
}

TEST_CASE("compare: logical_xor broadcasts, and takes bools only") {
  CHECK_THAT(logical_xor(tensor({{1}, {0}}, boolean), tensor({1, 0}, boolean)),
             HasValues({{0, 1}, {1, 0}}));
  CHECK(error_text<DTypeError>([] { logical_xor(ones({2}), ones({2}, boolean)); }) ==
        "logical_xor: x must be bool, not float32\n"
        "  got    x (2,) float32\n"
        "  hint   x.to(boolean)");
  CHECK(error_text<DTypeError>([] { logical_xor(ones({2}, boolean), ones({2}, int64)); }) ==
        "logical_xor: other must be bool, not int64\n"
        "  got    other (2,) int64\n"
        "  hint   other.to(boolean)");
  CHECK_THROWS_AS(logical_xor(ones({2}, boolean), ones({3}, boolean)), ShapeError);
}

TEST_CASE("compare: whole numbers with int64, exactly") {
  const Index odd = (Index{1} << 53) + 1;  // which float64 does not have
  const Tensor x = from_vector<Index>({odd, -odd, std::numeric_limits<Index>::max()});
  CHECK_THAT(eq(x, 0x1p53).to(int64), HasValues({0, 0, 0}));
  CHECK_THAT(gt(x, 0x1p53).to(int64), HasValues({1, 0, 1}));
  CHECK_THAT(lt(x, -0x1p53).to(int64), HasValues({0, 1, 0}));
  CHECK_THAT(lt(x, 0x1p63).to(int64), HasValues({1, 1, 0}));  // as float64 the largest is 2^63
  CHECK_THAT(gt(x, 0.5).to(int64), HasValues({1, 0, 1}));
}
