// Extremes: values and first positions, who gets the gradient of a tie, NaN, and what is not there.
#include "framework/ops/extreme.h"

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("max: values and first positions") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, 5, 5}, {9, -2, 9}}, dtype);
  CHECK_THAT(max(x), HasValues(9));
  CHECK_THAT(amax(x, {0}), HasValues({9, 5, 9}));
  CHECK_THAT(amax(x, {1}, true), HasValues({{5}, {9}}));
  CHECK_THAT(amax(x.unsqueeze(1), {0, 2}), HasValues({9}));
  const auto [values, indices] = max(x, 1);
  CHECK_THAT(values, HasValues({5, 9}));
  CHECK_THAT(indices, IsCloseTo(tensor({1, 0}, int64)));
  const MaxResult kept = max(x, 0, true);
  CHECK_THAT(kept.values, HasValues({{9, 5, 9}}));
  CHECK_THAT(kept.indices, IsCloseTo(tensor({{1, 0, 1}}, int64)));
  CHECK_THAT(max(x.transpose(0, 1), 0).indices, HasValues({1, 0}));
  CHECK_THAT(max(tensor(4, dtype), 0).indices, HasValues(0));
}

TEST_CASE("max: NaN wins, and -inf is a number") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, kNaN, 3}, {-kInf, -kInf, -kInf}, {kNaN, kInf, kNaN}}, dtype);
  CHECK_THAT(amax(x, {1}), HasValues({kNaN, -kInf, kNaN}));
  CHECK_THAT(max(x, 1).indices, HasValues({1, 0, 0}));
}

// C048: tied entries share one gradient of 1.
TEST_CASE("max: ties share the gradient, or the first takes it") {
  const Tensor x = leaf({2, 2, 1});
  max(x).backward();
  CHECK_THAT(x.grad(), HasValues({0.5, 0.5, 0}));
  x.zero_grad();
  max(x, 0).values.backward();
  CHECK_THAT(x.grad(), HasValues({1, 0, 0}));
  const Tensor y = leaf({{1, 7}, {7, 0}});
  amax(y, {0, 1}).backward({.gradient = tensor(6, float64)});
  CHECK_THAT(y.grad(), HasValues({{0, 3}, {3, 0}}));
  y.zero_grad();
  amax(y, {1}).backward({.gradient = tensor({2, 5}, float64)});
  CHECK_THAT(y.grad(), HasValues({{0, 2}, {5, 0}}));
  const Tensor scalar = leaf(3);
  max(scalar, 0).values.backward();
  CHECK_THAT(scalar.grad(), HasValues(1));
}

TEST_CASE("min: values and first positions") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{5, 1, 1}, {-9, 2, -9}}, dtype);
  CHECK_THAT(min(x), HasValues(-9));
  CHECK_THAT(amin(x, {0}), HasValues({-9, 1, -9}));
  CHECK_THAT(amin(x, {-1}, true), HasValues({{1}, {-9}}));
  const auto [values, indices] = min(x, 1);
  CHECK_THAT(values, HasValues({1, -9}));
  CHECK_THAT(indices, IsCloseTo(tensor({1, 0}, int64)));
  CHECK_THAT(min(x, 0, true).indices, HasValues({{1, 0, 1}}));
  CHECK_THAT(min(x.transpose(0, 1), 0).values, HasValues({1, -9}));
  CHECK_THAT(min(tensor(4, dtype), -1).values, HasValues(4));
}

TEST_CASE("max and min: of bools") {
  const Tensor x = tensor({{0, 1}, {0, 0}}, boolean);
  CHECK_THAT(amax(x, {1}), IsCloseTo(from_vector<bool>({true, false})));
  CHECK_THAT(max(x, 0).indices, HasValues({0, 0}));
  CHECK_THAT(min(x), IsCloseTo(from_vector<bool>({false}).view({})));
}

TEST_CASE("min: NaN wins, and inf is a number") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, kNaN, -3}, {kInf, kInf, kInf}, {kNaN, -kInf, kNaN}}, dtype);
  CHECK_THAT(amin(x, {1}), HasValues({kNaN, kInf, kNaN}));
  CHECK_THAT(min(x, 1).indices, HasValues({1, 0, 0}));
}

// C048
TEST_CASE("min: ties share the gradient, or the first takes it") {
  const Tensor x = leaf({1, 1, 2});
  min(x).backward();
  CHECK_THAT(x.grad(), HasValues({0.5, 0.5, 0}));
  x.zero_grad();
  min(x, 0).values.backward();
  CHECK_THAT(x.grad(), HasValues({1, 0, 0}));
  x.zero_grad();
  topk(x, 2, 0, false).values.backward({.gradient = tensor({3, 5}, float64)});
  CHECK_THAT(x.grad(), HasValues({3, 5, 0}));
}

TEST_CASE("argmax and argmin: along an axis, and of all") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, 5, 5}, {9, -2, 9}}, dtype);
  CHECK_THAT(argmax(x), IsCloseTo(tensor(3, int64)));
  CHECK_THAT(argmin(x), IsCloseTo(tensor(4, int64)));
  CHECK_THAT(argmax(x, 1), IsCloseTo(tensor({1, 0}, int64)));
  CHECK_THAT(argmax(x, 0, true), HasValues({{1, 0, 1}}));
  CHECK_THAT(argmin(x, -1), HasValues({0, 1}));
  CHECK_THAT(argmin(x, 0), HasValues({0, 1, 0}));
  CHECK_THAT(argmax(x.transpose(0, 1)), HasValues(1));  // in the order of what it is given
  CHECK_THAT(argmax(tensor(3, dtype)), HasValues(0));
  CHECK_THAT(argmax(tensor(3, dtype), 0), HasValues(0));
}

TEST_CASE("argmax and argmin: NaN wins, and nothing is on the tape") {
  const Tensor x = leaf({1, kNaN, 3, kNaN});
  CHECK_THAT(argmax(x), HasValues(1));
  CHECK_THAT(argmin(x), HasValues(1));
  CHECK_FALSE(argmax(x).requires_grad());
  CHECK_FALSE(max(x, 0).indices.requires_grad());
  CHECK_FALSE(topk(x, 1).indices.requires_grad());
}

TEST_CASE("topk: the best first, along any axis") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, 5, 3}, {9, -2, 9}}, dtype);
  const auto [values, indices] = topk(x, 2);
  CHECK_THAT(values, HasValues({{5, 3}, {9, 9}}));
  CHECK(values.dtype() == dtype);
  CHECK_THAT(indices, IsCloseTo(tensor({{1, 2}, {0, 2}}, int64)));
  const MaxResult smallest = topk(x, 2, 1, false);
  CHECK_THAT(smallest.values, HasValues({{1, 3}, {-2, 9}}));
  CHECK_THAT(smallest.indices, HasValues({{0, 2}, {1, 0}}));
  CHECK_THAT(topk(x, 1, 0).values, HasValues({{9, 5, 9}}));
  CHECK_THAT(topk(x, 2, 0).indices, HasValues({{1, 0, 1}, {0, 1, 0}}));
  CHECK_THAT(topk(x.transpose(0, 1), 2, 0).values, HasValues({{5, 9}, {3, 9}}));
  CHECK_THAT(topk(x, 3).values, HasValues({{5, 3, 1}, {9, 9, -2}}));
  CHECK(topk(x, 0).values.shape() == Shape{2, 0});
  CHECK(topk(zeros({2, 0}), 0).indices.shape() == Shape{2, 0});
  CHECK(topk(zeros({0, 3}), 2).values.shape() == Shape{0, 2});
  CHECK_THAT(topk(tensor(4, dtype), 1).values, HasValues(4));
}

// C124
TEST_CASE("topk: of equal elements the first, and exactly k") {
  const auto [values, indices] = topk(tensor({1, 1, 1, 0}), 2);
  CHECK_THAT(values, HasValues({1, 1}));
  CHECK_THAT(indices, HasValues({0, 1}));
  CHECK_THAT(topk(tensor({0, 1, 1, 0}), 3, 0, false).indices, HasValues({0, 3, 1}));
}

TEST_CASE("topk: NaN counts as the largest") {
  const Tensor x = tensor({1, kNaN, kInf, -kInf}, float64);
  CHECK_THAT(topk(x, 4).values, HasValues({kNaN, kInf, 1, -kInf}));
  CHECK_THAT(topk(x, 4, 0, false).indices, HasValues({3, 0, 2, 1}));
}

TEST_CASE("topk: the gradient goes where the values came from") {
  const Tensor x = leaf({{1, 5, 3}, {9, -2, 9}});
  topk(x, 2).values.backward({.gradient = tensor({{1, 2}, {3, 4}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{0, 1, 2}, {3, 0, 4}}));
}

// C034
TEST_CASE("extremes: over no elements") {
  const Tensor x = zeros({2, 0}, float64);
  CHECK(amax(x, {0}).shape() == Shape{0});
  CHECK(amin(x, {0}, true).shape() == Shape{1, 0});
  CHECK(max(x, 0).values.shape() == Shape{0});
  CHECK(argmax(x, 0).shape() == Shape{0});
  const std::string got = ": axis 1 has no elements to choose from\n  got    x (2, 0) float64";
  CHECK(error_text<ShapeError>([&] { amax(x, {1}); }) == "amax" + got);
  CHECK(error_text<ShapeError>([&] { amin(x, {1}); }) == "amin" + got);
  CHECK(error_text<ShapeError>([&] { max(x, 1); }) == "max" + got);
  CHECK(error_text<ShapeError>([&] { min(x, 1); }) == "min" + got);
  CHECK_THROWS_AS(max(x), ShapeError);
  CHECK_THROWS_AS(argmax(x), ShapeError);
  CHECK_THROWS_AS(argmin(x, 1), ShapeError);
}

TEST_CASE("extremes: axes and numbers that make no sense") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] { max(x, 2); }) == "max: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] { amax(tensor(1), {1}); }) ==
        "amax: axis 1 is outside -1..0 (rank 0)");
  CHECK(error_text<ShapeError>([&] {
          amin(x, {0, -2});
        }) == "amin: axis 0 is named twice\n  got    axes (0, -2), rank 2");
  CHECK(error_text<ShapeError>([&] { topk(x, 1, 2); }) == "topk: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ValueError>([&] { topk(x, 4); }) ==
        "topk: k 4 is outside 0..3\n  got    x (2, 3) float32, axis 1");
  CHECK(error_text<ValueError>([&] { topk(x, -1, 0); }) ==
        "topk: k -1 is outside 0..2\n  got    x (2, 3) float32, axis 0");
  CHECK(error_text<ValueError>([&] { topk(tensor(1), 2); }) ==
        "topk: k 2 is outside 0..1\n  got    x (1,) float32, axis 0");
}
