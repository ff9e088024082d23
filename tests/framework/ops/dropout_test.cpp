#include "framework/ops/dropout.h"

#include "framework/autograd/backward.h"
#include "framework/core/random.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("dropout: off, it is x itself and draws nothing") {
  const Tensor x = leaf({1, 2, 3});
  manual_seed(7);
  const Generator before = default_generator();
  CHECK(dropout(x, 0.5, false).is_same(x));
  CHECK(dropout(x, 0).is_same(x));
  CHECK((default_generator() == before));
}

// C045: 1 / (1 - p) is infinite at p = 1.
TEST_CASE("dropout: p = 1 drops everything, infinities too") {
  const Tensor x = leaf({1, kInf, kNaN});
  const Tensor y = dropout(x, 1);
  CHECK_THAT(y, HasValues({0, 0, 0}, exactly));
  y.sum().backward();
  CHECK_THAT(x.grad(), HasValues({0, 0, 0}, exactly));
}

TEST_CASE("dropout: p outside 0..1") {
  const Tensor x = zeros({2});
  CHECK(error_text<ValueError>([&] { dropout(x, -0.1); }) == "dropout: p -0.1 is outside 0..1");
  CHECK(error_text<ValueError>([&] { dropout(x, 1.5); }) == "dropout: p 1.5 is outside 0..1");
  CHECK(error_text<ValueError>([&] { dropout(x, kNaN); }) == "dropout: p nan is outside 0..1");
  CHECK_THROWS_AS(dropout(x, -0.1, false), ValueError);
  CHECK_THROWS_AS(dropout_with_key(x, 2, 1), ValueError);
  CHECK(
      error_text<DTypeError>([] { dropout(zeros({2}, int64), 0.5); }) ==
      "dropout: needs a floating tensor, not int64\n  got    x (2,) int64\n  hint   x.to(float32)");
}

// C046: the gradient has the mask and the scale of the values.
TEST_CASE("dropout: backward scales as forward does") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = (random_normal({37, 3}, 1, dtype) + 10).requires_grad_();
  const Tensor y = dropout(x, 0.3);
  const Tensor g = random_normal({37, 3}, 2, dtype) + 5;
  y.backward({.gradient = g});
  CHECK_THAT(x.grad() / g, IsCloseTo((y / x).detach()));
  const Tensor kept = ne(y, 0);
  CHECK_THAT(y.detach(), IsCloseTo(x.detach() * kept.to(dtype) / 0.7));
}

TEST_CASE("dropout: drops its share, in every part of the tensor") {
  const Tensor x = ones({100000}).requires_grad_();
  manual_seed(3);
  const double p = GENERATE(0.1, 0.5, 0.9);
  const Tensor y = dropout(x, p).detach();
  CHECK(mean(y).item() == Catch::Approx(1.0).margin(5 * std::sqrt(p / (1 - p) / 1e5)));
  for (Index part = 0; part < 10; ++part) {
    const Tensor dropped = eq(y.slice(0, part * 10000, (part + 1) * 10000), 0);
    CHECK(dropped.sum().item() / 1e4 == Catch::Approx(p).margin(5 * std::sqrt(p * (1 - p) / 1e4)));
  }
}

TEST_CASE("dropout: calls differ, and a seed repeats them") {
  const Tensor x = ones({200});
  manual_seed(11);
  const Tensor first = dropout(x, 0.5);
  const Tensor second = dropout(x, 0.5);
  CHECK_FALSE(allclose(first, second));
  manual_seed(11);
  CHECK_THAT(dropout(x, 0.5), IsCloseTo(first, exactly));
  CHECK_THAT(dropout(x, 0.5), IsCloseTo(second, exactly));
}

TEST_CASE("dropout: the mask follows from key and position, not from layout or dtype") {
  const Tensor x = ones({6, 7}, float64);
  const Tensor y = dropout_with_key(x, 0.5, 99);
  CHECK_THAT(dropout_with_key(stored_transposed(x), 0.5, 99), IsCloseTo(y, exactly));
  CHECK_THAT(dropout_with_key(x.flatten(), 0.5, 99), IsCloseTo(y.flatten(), exactly));
  CHECK_THAT(dropout_with_key(x.slice(0, 0, 3), 0.5, 99), IsCloseTo(y.slice(0, 0, 3), exactly));
  CHECK_THAT(dropout_with_key(x.to(float32), 0.5, 99), IsCloseTo(y.to(float32), exactly));
  CHECK_FALSE(allclose(dropout_with_key(x, 0.5, 100), y));
  CHECK(dropout_with_key(zeros({0, 2}), 0.5, 1).shape() == Shape{0, 2});
}

// The stream is Philox4x32-10 with counter 0, 1, ...; these are the known answers of its authors
// (Random123, kat_vectors) for key 0 and counter 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
TEST_CASE("dropout: the words behind the mask are Philox's") {
  const double words[] = {0x6627e8d5p0, 0xe169c58dp0, 0xbc57ac4cp0, 0x9b00dbd8p0};
  for (int i = 0; i < 4; ++i) {
    const double p = words[i] * 0x1p-32;  // a word below the threshold drops
    CHECK(dropout_with_key(ones({4}), p, 0).at({i}) != 0);
    CHECK(dropout_with_key(ones({4}), p + 0x1p-32, 0).at({i}) == 0);
  }
}
