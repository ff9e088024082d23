// Tensors from numbers: constants of every dtype, braces, vectors, ranges, and impossible shapes.
#include "framework/ops/creation.h"

#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("creation: constants of every dtype") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  CHECK_THAT(zeros({2, 2}, dtype), HasValues({{0, 0}, {0, 0}}));
  CHECK_THAT(ones({3}, dtype), HasValues({1, 1, 1}));
  CHECK_THAT(full({}, 1, dtype), HasValues(1));
  CHECK(empty({2, 3}, dtype).dtype() == dtype);
  CHECK(zeros({2, 0}, dtype).numel() == 0);
  const Tensor x = zeros({2, 3}, dtype);
  CHECK_THAT(ones_like(x), HasValues({{1, 1, 1}, {1, 1, 1}}));
  CHECK_THAT(zeros_like(x), IsCloseTo(x));
  CHECK(empty_like(x).shape() == x.shape());
  CHECK(ones_like(x).dtype() == dtype);
}

TEST_CASE("creation: float32 is the default, and nothing wants a gradient") {
  CHECK(zeros({1}).dtype() == float32);
  CHECK(tensor({1, 2}).dtype() == float32);
  CHECK(arange(3).dtype() == int64);
  CHECK_FALSE(zeros({1}).requires_grad());
  CHECK_THAT(full({2}, -2.5), HasValues({-2.5, -2.5}));
}

TEST_CASE("creation: like-tensors are packed and off the tape, whatever they are like") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}}).transpose(0, 1);
  CHECK(ones_like(x).is_contiguous());
  CHECK_FALSE(ones_like(x).requires_grad());
  CHECK(ones_like(x).shape() == Shape{3, 2});
}

TEST_CASE("creation: nested braces") {
  CHECK(tensor(3.5).shape() == Shape{});
  CHECK(tensor({1, 2, 3}).shape() == Shape{3});
  CHECK(tensor({{{1, 2}}, {{3, 4}}, {{5, 6}}}).shape() == Shape{3, 1, 2});
  CHECK(tensor({{1}}).shape() == Shape{1, 1});
  CHECK(tensor({{}, {}}).shape() == Shape{2, 0});
  CHECK_THAT(tensor({true, false}, boolean), HasValues({1, 0}));
  CHECK(error_text<ShapeError>([] {
          tensor({{1, 2}, {3}});
        }) == "tensor: ragged braces ((2,) beside (1,))");
  CHECK_THROWS_AS(tensor({{1, 2}, 3}), ShapeError);
}

TEST_CASE("creation: from vectors") {
  CHECK(from_vector<float>({1, 2}).dtype() == float32);
  CHECK(from_vector<double>({1, 2}).dtype() == float64);
  CHECK(from_vector<std::int64_t>({1, 2}).dtype() == int64);
  CHECK(from_vector<bool>({true}).dtype() == boolean);
  CHECK_THAT(from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3}), HasValues({{1, 2, 3}, {4, 5, 6}}));
  CHECK(from_vector<float>({}, {0, 4}).shape() == Shape{0, 4});
  CHECK(error_text<ShapeError>([] {
          from_vector<float>({1, 2, 3}, {2, 2});
        }) == "from_vector: 3 values for the 4 elements of (2, 2)");
}

TEST_CASE("creation: ranges") {
  CHECK_THAT(arange(4), HasValues({0, 1, 2, 3}));
  CHECK_THAT(arange(2, 9, 3), HasValues({2, 5, 8}));
  CHECK_THAT(arange(2, 8, 3), HasValues({2, 5}));
  CHECK_THAT(arange(3, 0, -1), HasValues({3, 2, 1}));
  CHECK_THAT(arange(0, 1, 0.25, float64), HasValues({0, 0.25, 0.5, 0.75}));
  CHECK(arange(0, 1, 0.1, float64).shape() == Shape{10});
  CHECK(arange(0).shape() == Shape{0});
  CHECK(arange(5, 5, 1).shape() == Shape{0});
  CHECK(error_text<ValueError>([] { arange(3, 0, 1); }) ==
        "arange: no way from 3 to 0 in steps of 1");
  CHECK(error_text<ValueError>([] { arange(0, 3, 0); }) ==
        "arange: no way from 0 to 3 in steps of 0");
  CHECK_THROWS_AS(arange(0, kInf, 1), ValueError);
  CHECK_THROWS_AS(arange(0, kNaN, 1), ValueError);
}

TEST_CASE("creation: impossible shapes") {
  CHECK(error_text<ShapeError>([] { zeros({2, -1}); }) == "shape: negative size -1 in (2, -1)");
  CHECK(error_text<ShapeError>([] {
          zeros({Index{1} << 31, Index{1} << 31});
        }) == "shape: (2147483648, 2147483648) has too many elements");
  CHECK_THROWS_AS(zeros({Index{1} << 62, Index{1} << 62, 0}), ShapeError);
  CHECK(error_text<ShapeError>([] {
          zeros({1, 1, 1, 1, 1, 1, 1, 1, 1});
        }) == "shape: 9 axes are more than the 8 that a tensor can have");
}

TEST_CASE("creation: linspace meets both ends") {
  CHECK_THAT(linspace(0, 1, 5), IsCloseTo(tensor({0, 0.25, 0.5, 0.75, 1})));
  CHECK_THAT(linspace(-3, 7, 4, float64), HasValues({-3, 1. / 3, 11. / 3, 7}));
  CHECK_THAT(linspace(1, 0, 3), HasValues({1, 0.5, 0}, exactly));
  CHECK_THAT(linspace(2, 5, 1), HasValues({2}));
  CHECK(linspace(0, 1, 0).shape() == Shape{0});
  CHECK_THAT(linspace(0, 10, 5, int64), IsCloseTo(tensor({0, 2, 5, 7, 10}, int64)));
  const Tensor many = linspace(0.1, 0.7, 1001, float64);
  CHECK(many.at({0}) == 0.1);
  CHECK(many.at({1000}) == 0.7);
  CHECK(error_text<ValueError>([] { linspace(0, 1, -1); }) ==
        "linspace: negative number of steps -1");
}

TEST_CASE("creation: eye") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  CHECK_THAT(eye(2, std::nullopt, dtype), HasValues({{1, 0}, {0, 1}}));
  CHECK_THAT(eye(2, 3, dtype), HasValues({{1, 0, 0}, {0, 1, 0}}));
  CHECK_THAT(eye(3, 1, dtype), HasValues({{1}, {0}, {0}}));
  CHECK(eye(2, 3, dtype).dtype() == dtype);
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK(eye(2, 0).shape() == Shape{2, 0});
  CHECK(error_text<ShapeError>([] { eye(-1); }) == "shape: negative size -1 in (-1, -1)");
}
