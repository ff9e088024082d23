// Sums and their kin over axes: values, many elements in float32, none at all, and derivatives at
// kinks.
#include "framework/ops/reduce.h"

#include <cmath>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "tests/support/finite.h"
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
TEST_CASE("sum and mean: over no elements") {
  const Tensor x = zeros({2, 0}, float64);
  CHECK_THAT(sum(x, {1}), HasValues({0, 0}));
  CHECK_THAT(mean(x, {1}), HasValues({kNaN, kNaN}));
  CHECK_THAT(sum(x), HasValues(0));
  CHECK_THAT(mean(x), HasValues(kNaN));
  CHECK(sum(x, {0}).shape() == Shape{0});
  CHECK(mean(x, {0}, true).shape() == Shape{1, 0});

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

// The kernel cuts a long row into at most 256 pieces, of 16384 elements or more.
TEST_CASE("sum: rows about as long as all pieces together") {
  constexpr Index pieces = Index{256} * 16384;
  for (const Index count : {pieces - 1, pieces, pieces + 1, pieces + 255, pieces + 257}) {
    CHECK(sum(ones({count})).item() == static_cast<double>(count));
  }
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

TEST_CASE("reduce: axes and dtypes that make no sense") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] { sum(x, {2}); }) == "sum: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] { mean(x, {-3}); }) ==
        "mean: axis -3 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] {
          sum(x, {1, -1});
        }) == "sum: axis 1 is named twice\n  got    axes (1, -1), rank 2");
  CHECK(error_text<DTypeError>([&] { mean(zeros({2}, int64)); }) ==
        "mean: needs a floating tensor, not int64\n  got    x (2,) int64\n  hint   x.to(float32)");
}

// ---- products, variances, norms ----

TEST_CASE("prod: values") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, 2, 3}, {4, 5, -6}}, dtype);
  CHECK_THAT(prod(x), HasValues(-720));
  CHECK_THAT(prod(x, 0), HasValues({4, 10, -18}));
  CHECK_THAT(prod(x, -1), HasValues({6, -120}));
  CHECK_THAT(prod(x, 1, true), HasValues({{6}, {-120}}));
  CHECK(prod(x, 1).dtype() == dtype);
  CHECK_THAT(prod(x.transpose(0, 1), 1), HasValues({4, 10, -18}));
  CHECK_THAT(prod(tensor(3, dtype)), HasValues(3));
  CHECK_THAT(prod(tensor(3, dtype), 0), HasValues(3));
  CHECK_THAT(prod(zeros({0}, dtype)), HasValues(1));
  CHECK_THAT(prod(zeros({2, 0}, dtype), 1), HasValues({1, 1}));
  CHECK_THAT(prod(zeros({2, 0}, dtype), 1, true), HasValues({{1}, {1}}));
  CHECK(prod(zeros({2, 0}, dtype), 0).shape() == Shape{0});
}

TEST_CASE("prod: integers are exact, and bools are counted as such") {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK_THAT(prod(from_vector<std::int64_t>({large, 3, 1})),
             IsCloseTo(from_vector<std::int64_t>({3 * large}).view({})));
  CHECK_THAT(prod(tensor({1, 1, 0}, boolean)), IsCloseTo(tensor(0, int64)));
  CHECK_THAT(prod(tensor({2, kInf}, float64)), HasValues(kInf));
  CHECK_THAT(prod(tensor({0, kInf}, float64)), HasValues(kNaN));
}

// y / x, which others compute, is 0 / 0 there.
TEST_CASE("prod: the gradient is right beside zeros") {
  const auto gradient = [](const NestedNumbers& numbers) {
    const Tensor x = leaf(numbers);
    prod(x).backward();
    return x.grad();
  };
  CHECK_THAT(gradient({2, 3, 4}), HasValues({12, 8, 6}));
  CHECK_THAT(gradient({2, 0, 4}), HasValues({0, 8, 0}));
  CHECK_THAT(gradient({0, 0, 4}), HasValues({0, 0, 0}));
  CHECK_THAT(gradient({5}), HasValues({1}));
  const Tensor x = leaf({0, 0, 4});
  const Tensor first = gradients({prod(x)}, {x}, {.create_graph = true})[0];
  CHECK_THAT(gradients({first[0]}, {x})[0], HasValues({0, 4, 0}));  // of x1 x2 by x
}

TEST_CASE("var and std: values") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, 2, 3, 4}, {2, 2, 6, 6}}, dtype);
  CHECK_THAT(var(x, {1}), HasValues({5. / 3, 16. / 3}));
  CHECK_THAT(var(x, {1}, 0), HasValues({1.25, 4}));
  CHECK_THAT(var(x, {1}, 2, true), HasValues({{2.5}, {8}}));
  CHECK_THAT(var(x, {0}), HasValues({0.5, 0, 4.5, 2}));
  CHECK_THAT(var(x), HasValues((5 + 16 + 2 * 4 * 0.75 * 0.75) / 7));
  CHECK_THAT(gradus::std(x, {1}, 0), HasValues({1.118033988749895, 2}));
  CHECK_THAT(gradus::std(x, {0}, 1, true),
             HasValues({{0.7071067811865476, 0, 2.121320343559643, 1.4142135623730951}}));
  CHECK_THAT(var(x.transpose(0, 1), {0}, 0), HasValues({1.25, 4}));
}

// C036: two passes.
TEST_CASE("var: far from zero") {
  CHECK_THAT(var(tensor({40000, 40001, 40002, 40003}, float32), {}, 0), HasValues(1.25));
  // The mean of equal numbers may be the neighbour of that number, half a digit off.
  CHECK_THAT(gradus::std(full({256}, 1234.1, float32)), HasValues(0, Tolerance{0, 1.3e-4}));
}

TEST_CASE("var and std: where there is nothing to divide by") {
  CHECK_THAT(var(tensor(3, float64)), HasValues(kNaN));
  CHECK_THAT(var(tensor(3, float64), {}, 0), HasValues(0));
  CHECK_THAT(gradus::std(tensor({{3}, {4}}, float64), {1}), HasValues({kNaN, kNaN}));
  CHECK_THAT(var(zeros({2, 0}, float64), {1}), HasValues({kNaN, kNaN}));
  CHECK_THAT(var(zeros({2, 0}, float64), {1}, 0), HasValues({kNaN, kNaN}));
  CHECK(var(zeros({2, 0}, float64), {0}).shape() == Shape{0});
  CHECK_THAT(var(tensor({1, 2}, float64), {}, 2), HasValues(kInf));  // 0.5 / 0, as in PyTorch
  CHECK_THAT(var(tensor({1, kInf}, float64)), HasValues(kNaN));
}

// C049: where a root is at 0 its infinite slope is taken as 0.
TEST_CASE("std and norm: the derivative at 0 is 0, to second order") {
  using Function = Tensor (*)(const Tensor&);
  for (const Function function : {
           Function([](const Tensor& x) { return gradus::std(x); }),
           Function([](const Tensor& x) { return gradus::std(x, {0}, 0, true); }),
           Function([](const Tensor& x) { return norm(x - 3.0); }),
           Function([](const Tensor& x) { return norm(x - 3.0, 3, {0}, true); }),
           Function([](const Tensor& x) { return norm(x - 3.0, kInf); }),
           Function([](const Tensor& x) { return norm(x - 3.0, 1); }),
       }) {
    const Tensor x = leaf({3, 3, 3});
    const Tensor y = function(x).sum();
    CHECK_THAT(y, HasValues(0));
    const Tensor first = gradients({y}, {x}, {.create_graph = true})[0];
    CHECK_THAT(first, HasValues({0, 0, 0}));
    const Tensor total = (first * tensor({1, 2, 3}, float64)).sum();
    if (!total.requires_grad()) continue;
    CHECK_THAT(gradients({total}, {x}, {.allow_unused = true})[0], HasValues({0, 0, 0}));
  }
}

TEST_CASE("norm: values and gradients") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{3, -4}, {0, 12}}, dtype);
  CHECK_THAT(norm(x), HasValues(13));
  CHECK_THAT(norm(x, 2, {1}), HasValues({5, 12}));
  CHECK_THAT(norm(x, 1, {1}, true), HasValues({{7}, {12}}));
  CHECK_THAT(norm(x, kInf, {0}), HasValues({3, 12}));
  CHECK_THAT(norm(x, 3, {1}), HasValues({4.497941445275415, 12}));
  CHECK_THAT(norm(x, 0.5, {0}), HasValues({3, std::pow(2 + std::sqrt(12), 2)}));
  CHECK_THAT(norm(zeros({0}, dtype)), HasValues(0));
  CHECK_THAT(norm(zeros({2, 0}, dtype), 1, {1}), HasValues({0, 0}));
  CHECK_THAT(norm(tensor({1, kNaN}, dtype)), HasValues(kNaN));
  CHECK_THAT(norm(tensor({1, -kInf}, dtype)), HasValues(kInf));

  const auto gradient = [&](double p) {
    const Tensor input = tensor({3, -4}, dtype).requires_grad_();
    norm(input, p).backward();
    return input.grad();
  };
  CHECK_THAT(gradient(2), HasValues({0.6, -0.8}));
  CHECK_THAT(gradient(1), HasValues({1, -1}));
  CHECK_THAT(gradient(kInf), HasValues({0, -1}));
  CHECK_THAT(gradient(3), HasValues({9 / 20.231477241, -16 / 20.231477241}, Tolerance{1e-6, 0}));
}

TEST_CASE("logsumexp: without overflow") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1000, 1000}, {-1000, -1000}, {0, -kInf}, {kInf, 1}, {kNaN, 1}}, dtype);
  const double log2 = 0.6931471805599453;
  CHECK_THAT(logsumexp(x, {1}), HasValues({1000 + log2, -1000 + log2, 0, kInf, kNaN}));
  CHECK_THAT(logsumexp(tensor({{-kInf, -kInf}}, dtype), {1}, true), HasValues({{-kInf}}));
  CHECK_THAT(logsumexp(tensor({{0, 0}, {0, 0}}, dtype), {}), HasValues(2 * log2));
  CHECK_THAT(logsumexp(tensor(2, dtype), {}), HasValues(2));
  CHECK_THAT(logsumexp(zeros({2, 0}, dtype), {1}), HasValues({-kInf, -kInf}));
  CHECK(logsumexp(zeros({2, 0}, dtype), {0}).shape() == Shape{0});
  const Tensor input = tensor({{1000, 1000, -kInf}}, dtype).requires_grad_();
  logsumexp(input, {1}).backward({.gradient = tensor({4}, dtype)});
  CHECK_THAT(input.grad(), HasValues({{2, 2, 0}}));
}

TEST_CASE("cumsum: values along any axis") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, dtype);
  CHECK_THAT(cumsum(x, 1), HasValues({{1, 3, 6}, {4, 9, 15}}));
  CHECK_THAT(cumsum(x, 0), HasValues({{1, 2, 3}, {5, 7, 9}}));
  CHECK(cumsum(x, 0).dtype() == dtype);
  CHECK_THAT(cumsum(x.transpose(0, 1), -1), HasValues({{1, 5}, {2, 7}, {3, 9}}));
  CHECK_THAT(cumsum(tensor(3, dtype), 0), HasValues(3));
  CHECK(cumsum(zeros({2, 0}, dtype), 1).shape() == Shape{2, 0});
  CHECK(cumsum(zeros({2, 0}, dtype), 0).shape() == Shape{2, 0});
}

TEST_CASE("cumsum: bools count, NaN stays from where it comes, and float32 does not drift") {
  CHECK_THAT(cumsum(tensor({1, 0, 1}, boolean), 0), IsCloseTo(tensor({1, 1, 2}, int64)));
  CHECK_THAT(cumsum(tensor({1, kInf, -kInf, 2}, float64), 0), HasValues({1, kInf, kNaN, kNaN}));
  const Tensor tenths = cumsum(full({200000}, 0.1), 0);
  CHECK(tenths.at({199999}) == Catch::Approx(20000.0).margin(1e-2));
}

TEST_CASE("cumsum: the gradient is the sum of what comes after") {
  const Tensor x = leaf({{1, 2, 3}});
  cumsum(x, 1).backward({.gradient = tensor({{1, 10, 100}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{111, 110, 100}}));
}

// C052
TEST_CASE("norm, var and logsumexp: float32 over many elements") {
  const Tensor ones_of = ones({1}).expand({(Index{1} << 24) + 64});
  CHECK(norm(ones_of, 1).item() == 16777280);
  CHECK(norm(ones_of).item() == Catch::Approx(std::sqrt(16777280.0)).epsilon(1e-7));
  CHECK(var(full({200000}, 0.1)).item() == Catch::Approx(0).margin(1e-12));
  CHECK(logsumexp(zeros({200000}), {0}).item() == Catch::Approx(std::log(200000.0)).epsilon(1e-6));
}

TEST_CASE("prod, var, norm, logsumexp and cumsum: what makes no sense") {
  const Tensor x = zeros({2, 3});
  const Tensor integers = zeros({2}, int64);
  const std::string outside = ": axis 2 is outside -2..1 (rank 2)";
  CHECK(error_text<ShapeError>([&] { prod(x, 2); }) == "prod" + outside);
  CHECK(error_text<ShapeError>([&] { var(x, {2}); }) == "var" + outside);
  CHECK(error_text<ShapeError>([&] { logsumexp(x, {2}); }) == "logsumexp" + outside);
  CHECK(error_text<ShapeError>([&] { cumsum(x, 2); }) == "cumsum" + outside);
  CHECK_THROWS_AS(norm(x, 2, {2}), ShapeError);
  const std::string dtype =
      ": needs a floating tensor, not int64\n  got    x (2,) int64\n  hint   x.to(float32)";
  CHECK(error_text<DTypeError>([&] { var(integers); }) == "var" + dtype);
  CHECK(error_text<DTypeError>([&] { gradus::std(integers); }) == "std" + dtype);
  CHECK(error_text<DTypeError>([&] { norm(integers); }) == "norm" + dtype);
  CHECK(error_text<DTypeError>([&] { logsumexp(integers, {}); }) == "logsumexp" + dtype);
  for (const double p : {0.0, -1.0, kNaN}) {
    CHECK(error_text<ValueError>([&] { norm(x, p); }) == text("norm: p must be above 0, not ", p));
  }
  CHECK_THROWS_AS(norm(zeros({0}), kInf), ShapeError);
}

// Every number is in memory here, one after the other, or beside another.
TEST_CASE("sum and mean: 2^24 + 64 ones and many tenths, contiguous and with gaps") {
  constexpr Index count = (Index{1} << 24) + 64;
  const Tensor pairs = ones({count, 2});
  const Tensor contiguous = ones({count});
  for (const Tensor& x : {contiguous, pairs.select(1, 1), pairs.slice(1, 0, 1).squeeze(1)}) {
    CHECK(sum(x).item() == 16777280);
    CHECK(sum(x, {0}, true).item() == 16777280);
    CHECK(mean(x).item() == 1);
    CHECK(norm(x, 1).item() == 16777280);
  }
  CHECK_THAT(sum(pairs, {0}), HasValues({16777280, 16777280}, exactly));
  CHECK_THAT(sum(pairs.transpose(0, 1), {1}), HasValues({16777280, 16777280}, exactly));

  const Tensor tenths = full({200000, 3}, 0.1);
  for (const Tensor& x : {tenths.select(1, 2), tenths.select(1, 0).contiguous(),
                          full({400000}, 0.1).slice(0, 1, std::nullopt, 2)}) {
    CHECK(sum(x).item() == Catch::Approx(20000.0).margin(1e-2));
    CHECK(mean(x).item() == Catch::Approx(0.1).epsilon(1e-6));
    CHECK(norm(x).item() == Catch::Approx(std::sqrt(2000.0)).epsilon(1e-6));
    CHECK(logsumexp(x, {0}).item() == Catch::Approx(0.1 + std::log(200000.0)).epsilon(1e-6));
  }
}

TEST_CASE("norm: the derivative of a row of zeros is 0, and its neighbours keep theirs") {
  const DType dtype = GENERATE(float32, float64);
  for (const double p : {2.0, 3.0, 1.0, kInf}) {
    INFO("p " << p);
    const Tensor zero = leaf({0, 0}, dtype);
    norm(zero, p).backward();
    CHECK_THAT(zero.grad(), HasValues({0, 0}, exactly));
  }
  const Tensor rows = leaf({{0, 0}, {3, 4}}, dtype);
  norm(rows, 2, {1}).sum().backward();
  CHECK_THAT(rows.grad(), HasValues({{0, 0}, {0.6, 0.8}}));
  check_finite([](const std::vector<Tensor>& x) { return norm(x[0], 2, {1}); },
               {tensor({{0, 0}, {3, 4}}, dtype)});
  check_finite([](const std::vector<Tensor>& x) { return norm(x[0] - x[1]); },  // a distance
               {tensor({1, 2}, dtype), tensor({1, 2}, dtype)});
  check_finite([](const std::vector<Tensor>& x) { return gradus::std(x[0], {1}); },
               {tensor({{3, 3, 3}, {1, 2, 3}}, dtype)});
}

TEST_CASE("logsumexp: infinities and NaN, for every length of row") {
  const DType dtype = GENERATE(float32, float64);
  for (const Index length : {1, 3, 7, 8, 9, 127, 128, 129}) {
    INFO("length " << length);
    const auto of = [&](double all, double last) {
      Tensor row = full({length}, all, dtype);
      row.slice(0, length - 1).fill_(last);
      const Tensor wide = row.unsqueeze(1).expand({length, 2}).contiguous();
      const Tensor by_row = logsumexp(row, {0});
      CHECK_THAT(logsumexp(wide, {0}), IsCloseTo(by_row.expand({2})));
      CHECK_THAT(logsumexp(wide.transpose(0, 1), {1}), IsCloseTo(by_row.expand({2})));
      return by_row.item();
    };
    CHECK(of(-kInf, -kInf) == -kInf);
    CHECK(of(-kInf, 3) == 3);
    CHECK(of(0, kInf) == kInf);
    CHECK(std::isnan(of(0, kNaN)));
    CHECK(std::isnan(of(-kInf, kNaN)));
  }
}

TEST_CASE("norm and std: squares that float32 cannot hold") {
  for (const double size : {1e25, 1e-25}) {
    INFO("size " << size);
    const Tensor x = (tensor({{1, 2, 3}, {0, 3, 4}}) * size).detach().requires_grad_();
    const Tensor length = norm(x, 2, {1});
    CHECK_THAT(length / size, HasValues({std::sqrt(14.0), 5}));
    length.sum().backward();
    const double part = 1 / std::sqrt(14.0);
    CHECK_THAT(x.grad(), HasValues({{part, 2 * part, 3 * part}, {0, 0.6, 0.8}}));
    const Tensor deviation = gradus::std(x, {1});
    CHECK_THAT(deviation / size, HasValues({1, std::sqrt(13.0 / 3)}));
    CHECK_THAT(gradients({deviation[0]}, {x})[0][0], HasValues({-0.5, 0, 0.5}));
  }
  const Tensor mixed = tensor({{1e-30, 0}, {0, 0}, {1e30, 1e30}, {3, 4}});
  CHECK_THAT(norm(mixed, 2, {1}, true),
             HasValues({{1e-30}, {0}, {std::sqrt(2.0) * 1e30}, {5}}, Tolerance{1e-6, 0}));
}

TEST_CASE("norm: has its gradient where the squares of one slice vanish") {
  const Tensor x = tensor({{1, -2, 0.5}, {1e-12, 2e-12, 0}}, float64);
  const auto tiny = [](const Tensor& t) { return norm(t * 1e-160, 2, {1}) * 1e160; };
  const auto plain = [](const Tensor& t) { return norm(t, 2, {1}); };
  const Tensor weights = tensor({0.3, -0.7}, float64);
  const Tensor a = x.detach().requires_grad_();
  const Tensor b = x.detach().requires_grad_();
  CHECK_THAT(gradients({(tiny(a) * weights).sum()}, {a})[0],
             IsCloseTo(gradients({(plain(b) * weights).sum()}, {b})[0]));
}
