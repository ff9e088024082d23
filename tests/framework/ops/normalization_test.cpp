// Normalisations: values by hand, large offsets, constant rows, sizes of 0, and what does not fit.
#include "framework/ops/normalization.h"

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/finite.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("layer_norm: mean 0, variance 1, then weight and bias") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, 2, 3, 4}, {2, 2, 4, 4}}, dtype);
  const double a = 1 / std::sqrt(1.25);
  CHECK_THAT(layer_norm(x, {4}, {}, {}, 0),
             HasValues({{-1.5 * a, -0.5 * a, 0.5 * a, 1.5 * a}, {-1, -1, 1, 1}}));
  CHECK_THAT(layer_norm(x, {4}, tensor({1, 2, 3, 4}, dtype), tensor({10, 20, 30, 40}, dtype), 0)[1],
             HasValues({9, 18, 33, 44}));
  CHECK_THAT(layer_norm(x, {4}, {}, tensor({10, 20, 30, 40}, dtype), 0)[1],
             HasValues({9, 19, 31, 41}));
  CHECK_THAT(layer_norm(stored_transposed(x), {4}), IsCloseTo(layer_norm(x, {4})));
}

TEST_CASE("layer_norm: over several axes") {
  const Tensor x = random_normal({3, 2, 4}, 1);
  const Tensor weight = random_normal({2, 4}, 2);
  const Tensor bias = random_normal({2, 4}, 3);
  CHECK_THAT(
      layer_norm(x, {2, 4}, weight, bias),
      IsCloseTo(layer_norm(x.view({3, 8}), {8}, weight.view({8}), bias.view({8})).view({3, 2, 4})));
  CHECK_THAT(mean(layer_norm(x, {3, 2, 4})), HasValues(0));
  CHECK_THAT(layer_norm(x.transpose(0, 1), {3, 4}),
             IsCloseTo(layer_norm(x.transpose(0, 1).contiguous(), {3, 4})));
}

// C036: neither the mean nor the variance of large numbers may lose what sets them apart.
TEST_CASE("layer_norm: large offsets in float32") {
  CHECK_THAT(layer_norm(tensor({40000, 40001, 40002, 40003}), {4}),
             HasValues({-1.341635, -0.447212, 0.447212, 1.341635}, Tolerance{0, 2e-6}));
  CHECK_THAT(layer_norm(full({256}, 1234.1), {256}), IsCloseTo(zeros({256})));
}

// C037: eps is inside the root, and the variance divides by n.
TEST_CASE("layer_norm: eps and the divisor") {
  CHECK_THAT(layer_norm(tensor({1, 0, 0, 0}, float64), {4}),
             HasValues({1.7320, -0.5773, -0.5773, -0.5773}, Tolerance{0, 6e-5}));

  const Tensor constant = leaf({5, 5, 5, 5});
  const Tensor y = layer_norm(constant, {4});
  CHECK_THAT(y, HasValues({0, 0, 0, 0}, exactly));
  y.backward({.gradient = tensor({1, 0, 0, 0}, float64)});
  const double steep = 1 / std::sqrt(1e-5);
  CHECK_THAT(constant.grad(),
             HasValues({0.75 * steep, -0.25 * steep, -0.25 * steep, -0.25 * steep}));

  const Tensor one_feature = leaf({{3}, {-7}});
  const Tensor z = layer_norm(one_feature, {1}, ones({1}, float64), tensor({0.5}, float64));
  CHECK_THAT(z, HasValues({{0.5}, {0.5}}));
  z.sum().backward();
  CHECK_THAT(one_feature.grad(), HasValues({{0}, {0}}));
}

TEST_CASE("layer_norm: gradients of weight and bias") {
  const Tensor x = tensor({{2, 2, 4, 4}, {4, 2, 4, 2}}, float64);
  const Tensor weight = leaf({1, 1, 1, 1});
  const Tensor bias = leaf({0, 0, 0, 0});
  const Tensor g = tensor({{1, 2, 3, 4}, {10, 20, 30, 40}}, float64);
  layer_norm(x, {4}, weight, bias, 0).backward({.gradient = g});
  CHECK_THAT(weight.grad(), HasValues({-1 + 10, -2 - 20, 3 + 30, 4 - 40}));
  CHECK_THAT(bias.grad(), HasValues({11, 22, 33, 44}));
}

// Shifting and scaling x changes nothing, so the gradient is orthogonal to both.
TEST_CASE("layer_norm: the gradient sums to 0 over a row") {
  const Tensor x = random_normal({5, 7}, 4).requires_grad_();
  layer_norm(x, {7}, {}, {}, 0).backward({.gradient = random_normal({5, 7}, 5)});
  CHECK_THAT(sum(x.grad(), {1}), HasValues({0, 0, 0, 0, 0}));
  CHECK_THAT(sum(x.grad() * x.detach(), {1}), HasValues({0, 0, 0, 0, 0}));
}

// C034
TEST_CASE("layer_norm: sizes of 0") {
  const Tensor weight = ones({4}).requires_grad_();
  const Tensor x = zeros({0, 4}).requires_grad_();
  const Tensor y = layer_norm(x, {4}, weight, zeros({4}));
  CHECK(y.shape() == Shape{0, 4});
  y.sum().backward();
  CHECK(x.grad().shape() == Shape{0, 4});
  CHECK_THAT(weight.grad(), HasValues({0, 0, 0, 0}));
  CHECK(layer_norm(zeros({2, 0}), {0}).shape() == Shape{2, 0});
  CHECK(layer_norm(zeros({2, 3, 0}), {3, 0}).shape() == Shape{2, 3, 0});
}

TEST_CASE("layer_norm: NaN stays in its row") {
  CHECK_THAT(layer_norm(tensor({{1, kNaN}, {-1, 1}}, float64), {2}, {}, {}, 0),
             HasValues({{kNaN, kNaN}, {-1, 1}}));
}

TEST_CASE("layer_norm: what does not fit") {
  const Tensor x = zeros({2, 4});
  CHECK(error_text<ShapeError>([&] { layer_norm(x, {3}); }) ==
        "layer_norm: the last axes of x are not (3,)\n  got    x (2, 4) float32");
  CHECK(error_text<ShapeError>([&] { layer_norm(x, {}); }) ==
        "layer_norm: the last axes of x are not ()\n  got    x (2, 4) float32");
  CHECK(error_text<ShapeError>([&] {
          layer_norm(x, {1, 2, 4});
        }) == "layer_norm: the last axes of x are not (1, 2, 4)\n  got    x (2, 4) float32");
  CHECK(error_text<ShapeError>([&] { layer_norm(x, {4}, ones({1})); }) ==
        "layer_norm: weight does not fit normalized_shape\n  got    weight (1,), normalized_shape "
        "(4,)");
  CHECK(error_text<ShapeError>([&] {
          layer_norm(x, {4}, ones({4}), ones({2, 4}));
        }) ==
        "layer_norm: bias does not fit normalized_shape\n  got    bias (2, 4), normalized_shape "
        "(4,)");
  CHECK_THROWS_AS(layer_norm(x, {4}, ones({4}, float64)), DTypeError);
  CHECK(error_text<DTypeError>([&] { layer_norm(zeros({2}, int64), {2}); }) ==
        "layer_norm: needs a floating tensor, not int64\n  got    x (2,) int64\n  hint   "
        "x.to(float32)");
}

TEST_CASE("rms_norm: values") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{3, 4}, {-6, 8}}, dtype);
  const double r = std::sqrt(2.0);
  CHECK_THAT(rms_norm(x, {2}, {}, 0), HasValues({{0.6 * r, 0.8 * r}, {-0.6 * r, 0.8 * r}}));
  CHECK_THAT(rms_norm(x, {2}, tensor({2, -1}, dtype), 0),
             HasValues({{1.2 * r, -0.8 * r}, {-1.2 * r, -0.8 * r}}));
  CHECK_THAT(rms_norm(x, {2, 2}, {}, 0), IsCloseTo(x / std::sqrt(125.0 / 4)));
  CHECK_THAT(rms_norm(x, {2}, {}, 12.5),
             HasValues({{0.6, 0.8}, {-6 / std::sqrt(62.5), 8 / std::sqrt(62.5)}}));
  CHECK_THAT(rms_norm(x.transpose(0, 1), {2}, {}, 0),
             HasValues({{3 / std::sqrt(22.5), -6 / std::sqrt(22.5)},
                        {4 / std::sqrt(40.0), 8 / std::sqrt(40.0)}}));
}

// C049: eps keeps the root from 0.
TEST_CASE("rms_norm: a row of zeros") {
  const Tensor x = leaf({{0, 0}});
  const Tensor y = rms_norm(x, {2}, {}, 1e-4);
  CHECK_THAT(y, HasValues({{0, 0}}));
  y.backward({.gradient = tensor({{1, -2}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{100, -200}}));
}

TEST_CASE("rms_norm: sizes of 0, and NaN stays in its row") {
  const Tensor weight = ones({4}).requires_grad_();
  const Tensor x = zeros({0, 4}).requires_grad_();
  rms_norm(x, {4}, weight).sum().backward();
  CHECK(x.grad().shape() == Shape{0, 4});
  CHECK_THAT(weight.grad(), HasValues({0, 0, 0, 0}));
  CHECK(rms_norm(zeros({2, 0}), {0}).shape() == Shape{2, 0});
  CHECK_THAT(rms_norm(tensor({{1, kNaN}, {1, 1}}, float64), {2}, {}, 0),
             HasValues({{kNaN, kNaN}, {1, 1}}));
}

TEST_CASE("rms_norm: what does not fit") {
  const Tensor x = zeros({2, 4});
  CHECK(error_text<ShapeError>([&] { rms_norm(x, {3}); }) ==
        "rms_norm: the last axes of x are not (3,)\n  got    x (2, 4) float32");
  CHECK(error_text<ShapeError>([&] { rms_norm(x, {4}, ones({1})); }) ==
        "rms_norm: weight does not fit normalized_shape\n"
        "  got    weight (1,), normalized_shape (4,)");
  CHECK(error_text<DTypeError>([&] {
          rms_norm(x, {4}, ones({4}, float64));
        }).starts_with("rms_norm: float32 and float64 are not mixed silently"));
  CHECK(error_text<DTypeError>([&] { rms_norm(zeros({2}, int64), {2}); }) ==
        "rms_norm: needs a floating tensor, not int64\n"
        "  got    x (2,) int64\n"
        "  hint   x.to(float32)");
}

TEST_CASE("layer_norm: a row of equal numbers is exactly 0, whatever they are and however many") {
  const DType dtype = GENERATE(float32, float64);
  for (const Index size : {1, 2, 3, 7, 8, 9, 127, 128, 129, 256, 1000}) {
    for (const double value : {0.0, 0.1, 5.0, -1234.1, 1234.1, 1e12, -1e30}) {
      INFO(size << " times " << value);
      CHECK_THAT(layer_norm(full({2, size}, value, dtype), {size}),
                 IsCloseTo(zeros({2, size}, dtype), exactly));
    }
  }
}

TEST_CASE("layer_norm: what sets numbers apart survives any offset") {
  const NestedNumbers want = {-1.341635, -0.447212, 0.447212, 1.341635};
  CHECK_THAT(layer_norm(tensor({1e7, 1e7 + 1, 1e7 + 2, 1e7 + 3}), {4}),
             HasValues(want, Tolerance{0, 2e-6}));
  for (const double offset : {4e4, 1e9, 1e12, 1e15}) {
    INFO("offset " << offset);
    CHECK_THAT(layer_norm(tensor({offset, offset + 1, offset + 2, offset + 3}, float64), {4}),
               HasValues(want, Tolerance{0, 1e-6}));
  }
  const Tensor far = random_normal({3, 129}, 1, float32) + 30000;
  CHECK_THAT(layer_norm(far, {129}),
             IsCloseTo(layer_norm(far.to(float64), {129}).to(float32), Tolerance{0, 2e-6}));
  CHECK_THAT(layer_norm(stored_transposed(far), {129}), IsCloseTo(layer_norm(far, {129}), exactly));
}

TEST_CASE("layer_norm: eps inside the root and the divisor n, in either dtype") {
  const DType dtype = GENERATE(float32, float64);
  CHECK_THAT(layer_norm(tensor({1, 0, 0, 0}, dtype), {4}),
             HasValues({1.7320, -0.5773, -0.5773, -0.5773}, Tolerance{0, 6e-5}));
  const Tensor constant = leaf({5, 5, 5, 5}, dtype);
  layer_norm(constant, {4}).backward({.gradient = tensor({1, 0, 0, 0}, dtype)});
  CHECK_THAT(constant.grad(), HasValues({237.17, -79.06, -79.06, -79.06}, Tolerance{0, 5e-3}));
  const Tensor one = leaf({{3}, {-7}}, dtype);
  const Tensor y = layer_norm(one, {1}, tensor({2}, dtype), tensor({0.5}, dtype));
  CHECK_THAT(y, HasValues({{0.5}, {0.5}}, exactly));
  y.backward({.gradient = tensor({{3}, {4}}, dtype)});
  CHECK_THAT(one.grad(), HasValues({{0}, {0}}, exactly));
}

TEST_CASE("layer_norm: constant rows, single features and no rows are finite to second order") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor inputs[] = {full({2, 4}, 5, dtype), tensor({{3}, {-7}}, dtype), zeros({0, 4}, dtype),
                           full({2, 3}, 1e9, dtype), tensor({{1, 0, 0}, {0, 0, 0}}, dtype)};
  for (const Tensor& x : inputs) {
    INFO(x);
    const Index size = x.size(1);
    check_finite(
        [&](const std::vector<Tensor>& in) { return layer_norm(in[0], {size}, in[1], in[2]); },
        {x, ones({size}, dtype), zeros({size}, dtype)});
    check_finite([&](const std::vector<Tensor>& in) { return rms_norm(in[0], {size}, in[1]); },
                 {x, ones({size}, dtype)});
  }
}
