#include "framework/ops/reduce.h"

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("sum and mean: over some axes") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}}, dtype);
  CHECK_THAT(sum(x), HasValues(78));
  CHECK_THAT(sum(x, {0}), HasValues({{8, 10, 12}, {14, 16, 18}}));
  CHECK_THAT(sum(x, {1}), HasValues({{5, 7, 9}, {17, 19, 21}}));
  CHECK_THAT(sum(x, {-1}), HasValues({{6, 15}, {24, 33}}));
  CHECK_THAT(sum(x, {0, 2}), HasValues({30, 48}));
  CHECK_THAT(sum(x, {2, 0}), HasValues({30, 48}));
  CHECK_THAT(sum(x, {0, 1}), HasValues({22, 26, 30}));
  CHECK_THAT(sum(x, {0, 1, 2}), HasValues(78));
  CHECK_THAT(sum(x, {}), HasValues(78));
  CHECK_THAT(sum(x, {0, 2}, true), HasValues({{{30}, {48}}}));
  CHECK_THAT(sum(x, {1}, true), HasValues({{{5, 7, 9}}, {{17, 19, 21}}}));
  CHECK_THAT(mean(x), HasValues(6.5));
  CHECK_THAT(mean(x, {0, 2}), HasValues({5, 8}));
  CHECK_THAT(mean(x, {1}), HasValues({{2.5, 3.5, 4.5}, {8.5, 9.5, 10.5}}));
  CHECK_THAT(sum(x.transpose(0, 2), {1}), HasValues({{5, 17}, {7, 19}, {9, 21}}));
  CHECK_THAT(sum(x.slice(2, 1), {-1}), HasValues({{5, 11}, {17, 23}}));
  CHECK_THAT(sum(tensor(3, dtype), {0}), HasValues(3));
  CHECK_THAT(mean(tensor(3, dtype), {-1}, true), HasValues(3));
}

TEST_CASE("sum: integers and bools count") {
  CHECK_THAT(sum(from_vector<bool>({true, false, true})), IsCloseTo(tensor(2, int64)));
  const std::int64_t large = std::int64_t{1} << 60;
  CHECK_THAT(sum(from_vector<std::int64_t>({large, 1, large})),
             IsCloseTo(from_vector<std::int64_t>({2 * large + 1}).view({})));
  CHECK_THAT(sum(tensor({{1, 2}, {3, 4}}, int64), {0}), HasValues({4, 6}));
}

// C034: an axis without elements is no reason to crash, or to make numbers up.
TEST_CASE("sum, mean and max: over no elements") {
  const Tensor x = zeros({2, 0}, float64);
  CHECK_THAT(sum(x, {1}), HasValues({0, 0}));
  CHECK_THAT(mean(x, {1}), HasValues({kNaN, kNaN}));
  CHECK_THAT(sum(x), HasValues(0));
  CHECK_THAT(mean(x), HasValues(kNaN));
  CHECK(sum(x, {0}).shape() == Shape{0});
  CHECK(mean(x, {0}, true).shape() == Shape{1, 0});
  CHECK(amax(x, {0}).shape() == Shape{0});
  CHECK(max(x, 0).values.shape() == Shape{0});
  CHECK(error_text<ShapeError>([&] { amax(x, {1}); }) ==
        "amax: axis 1 has no elements to choose from\n  got    x (2, 0) float64");
  CHECK(error_text<ShapeError>([&] { max(x, 1); }) ==
        "max: axis 1 has no elements to choose from\n  got    x (2, 0) float64");
  CHECK_THROWS_AS(max(x), ShapeError);

  const Tensor input = zeros({2, 0}, float64).requires_grad_();
  mean(input, {1}).sum().backward();
  CHECK(input.grad().shape() == Shape{2, 0});
}

// C052: a plain float32 loop sticks at 2^24 and drifts over many tenths.
TEST_CASE("sum: float32 does not stop growing") {
  constexpr Index count = (Index{1} << 24) + 64;
  const Tensor one = ones({1});
  CHECK(sum(one.expand({count})).item() == 16777280);
  CHECK(sum(one.expand({count, 1}), {0}).item() == 16777280);
  CHECK(sum(one.expand({count, 2}), {0}).at({1}) == 16777280);
  CHECK(sum(one.expand({2, count}), {1}).at({1}) == 16777280);
  CHECK(mean(one.expand({count})).item() == 1);

  const Tensor tenths = full({200000}, 0.1);
  CHECK(sum(tenths).item() == Catch::Approx(20000.0).margin(1e-2));
  const Tensor wide = full({200000, 3}, 0.1);
  CHECK(sum(wide, {0}).at({2}) == Catch::Approx(20000.0).margin(1e-2));
  CHECK(sum(wide.slice(1, 0, 3, 2)).item() == Catch::Approx(40000.0).margin(2e-2));
  CHECK(sum(wide.transpose(0, 1), {1}).at({0}) == Catch::Approx(20000.0).margin(1e-2));
}

TEST_CASE("sum: every length and stride agrees with a plain loop") {
  for (Index outer : {1, 3}) {
    for (Index inner : {1, 2, 130}) {
      for (Index size : {1, 2, 7, 15, 16, 17, 33, 511, 512, 513, 1100}) {
        const Tensor x = random_normal({outer, size, inner}, static_cast<std::uint64_t>(size));
        const std::vector<double> values = x.to_vector<double>();
        std::vector<double> want(static_cast<std::size_t>(outer * inner), 0.0);
        for (std::size_t n = 0; n < values.size(); ++n) {
          const auto i = static_cast<Index>(n);
          want[static_cast<std::size_t>(i / (size * inner) * inner + i % inner)] += values[n];
        }
        INFO("outer " << outer << ", size " << size << ", inner " << inner);
        CHECK_THAT(sum(x, {1}), IsCloseTo(from_vector(want, {outer, inner}), Tolerance{0, 1e-11}));
      }
    }
  }
}

TEST_CASE("sum and mean: gradients") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}});
  sum(x, {0}).backward({.gradient = tensor({1, 2, 3}, float64)});
  CHECK_THAT(x.grad(), HasValues({{1, 2, 3}, {1, 2, 3}}));
  x.zero_grad();
  mean(x, {1}).backward({.gradient = tensor({3, 6}, float64)});
  CHECK_THAT(x.grad(), HasValues({{1, 1, 1}, {2, 2, 2}}));
  x.zero_grad();
  mean(x).backward();
  CHECK_THAT(x.grad(), HasValues({{1. / 6, 1. / 6, 1. / 6}, {1. / 6, 1. / 6, 1. / 6}}));
}

// C084: the path through the mean takes away what the direct one adds.
TEST_CASE("mean: cancels in x - mean(x)") {
  const Tensor x = leaf({1, 2, 3});
  (x - mean(x)).backward({.gradient = ones({3}, float64)});
  CHECK_THAT(x.grad(), HasValues({0, 0, 0}));
  x.zero_grad();
  (x - mean(x)).backward({.gradient = tensor({1, 0, 0}, float64)});
  CHECK_THAT(x.grad(), HasValues({2. / 3, -1. / 3, -1. / 3}));
}

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

TEST_CASE("reduce: axes and dtypes that make no sense") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] { sum(x, {2}); }) == "sum: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] { mean(x, {-3}); }) ==
        "mean: axis -3 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] {
          sum(x, {1, -1});
        }) == "sum: axis 1 is named twice\n  got    axes (1, -1), rank 2");
  CHECK(error_text<ShapeError>([&] { max(x, 2); }) == "max: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] { amax(tensor(1), {1}); }) ==
        "amax: axis 1 is outside -1..0 (rank 0)");
  CHECK(error_text<DTypeError>([&] { mean(zeros({2}, int64)); }) ==
        "mean: needs a floating tensor, not int64\n  got    x (2,) int64\n  hint   x.to(float32)");
}
