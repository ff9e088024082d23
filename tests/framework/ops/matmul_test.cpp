#include "framework/ops/matmul.h"
#include "framework/ops/linear.h"

#include <functional>
#include <string>

#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// The definition, in double: x (m, k) times other (k, n).
Tensor plain_product(const Tensor& x, const Tensor& other) {
  const Index m = x.size(0);
  const Index k = x.size(1);
  const Index n = other.size(1);
  const std::vector<double> a = x.to_vector<double>();
  const std::vector<double> b = other.to_vector<double>();
  std::vector<double> product(static_cast<std::size_t>(m * n), 0.0);
  for (Index i = 0; i < m; ++i) {
    for (Index l = 0; l < k; ++l) {
      for (Index j = 0; j < n; ++j) {
        product[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
      }
    }
  }
  return from_vector(product, {m, n}).to(x.dtype());
}

}  // namespace

TEST_CASE("matmul: matrices and vectors") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor a = tensor({{1, 2, 3}, {4, 5, 6}}, dtype);
  const Tensor b = tensor({{1, 0}, {0, 1}, {2, -1}}, dtype);
  const Tensor v = tensor({1, 2, 3}, dtype);
  CHECK_THAT(matmul(a, b), HasValues({{7, -1}, {16, -1}}));
  CHECK_THAT(matmul(a, v), HasValues({14, 32}));
  CHECK_THAT(matmul(v, b), HasValues({7, -1}));
  CHECK_THAT(matmul(v, v), HasValues(14));
  CHECK_THAT(matmul(a.unsqueeze(0), v), HasValues({{14, 32}}));
  CHECK_THAT(matmul(v, b.expand({2, 3, 2})), HasValues({{7, -1}, {7, -1}}));
}

TEST_CASE("matmul: every size agrees with the definition") {
  const DType dtype = GENERATE(float32, float64);
  const std::vector<Shape> sizes = {{1, 1, 1},   {1, 7, 1},    {3, 1, 5},     {2, 8, 3},  {5, 5, 5},
                                    {17, 9, 33}, {64, 64, 64}, {65, 130, 67}, {200, 3, 2}};
  for (const Shape& mkn : sizes) {
    const Tensor a = random_normal({mkn[0], mkn[1]}, 1, dtype);
    const Tensor b = random_normal({mkn[1], mkn[2]}, 2, dtype);
    INFO("m, k, n " << mkn);
    CHECK_THAT(matmul(a, b), IsCloseTo(plain_product(a, b)));
    CHECK_THAT(matmul(stored_transposed(a), b), IsCloseTo(plain_product(a, b)));
    CHECK_THAT(matmul(a, stored_transposed(b)), IsCloseTo(plain_product(a, b)));
    CHECK_THAT(matmul(stored_transposed(a), stored_transposed(b)), IsCloseTo(plain_product(a, b)));
  }
}

TEST_CASE("matmul: operands of any strides") {
  const Tensor wide = random_normal({6, 10}, 3);
  const Tensor b = random_normal({5, 4}, 4);
  const auto check = [&](const Tensor& x, const Tensor& other) {
    CHECK_THAT(matmul(x, other), IsCloseTo(plain_product(x, other)));
  };
  check(wide.slice(1, 0, 10, 2), b);  // gaps in both axes of memory
  check(wide.slice(1, 3, 8).slice(0, 1, 6, 2), b);
  check(wide.slice(0, 0, 1).slice(1, 0, 5).expand({3, 5}), b);  // a repeated row
  check(wide.slice(1, 0, 1).expand({6, 5}), b);                 // a repeated column
  check(wide.slice(1, 4, 5), wide.slice(0, 2, 3));              // one column times one row
  check(wide.slice(1, 0, 5), b.slice(1, 0, 3, 2));
  check(wide.slice(1, 0, 5), wide.slice(1, 0, 5).transpose(0, 1));
  check(b.transpose(0, 1).slice(0, 1, 2), b.slice(1, 2, 3));
}

TEST_CASE("matmul: stacks, with batch axes that broadcast") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor a = random_normal({2, 3, 4, 5}, 5, dtype);
  const Tensor b = random_normal({2, 3, 5, 6}, 6, dtype);
  const auto each = [](const Tensor& x, const Tensor& other) {
    Tensor all = zeros({2, 3, 4, 6}, x.dtype());
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 3; ++j) all[i][j].copy_(plain_product(x[i][j], other[i][j]));
    }
    return all;
  };
  CHECK_THAT(matmul(a, b), IsCloseTo(each(a, b)));
  CHECK_THAT(matmul(a.transpose(0, 1).contiguous().transpose(0, 1), b), IsCloseTo(each(a, b)));
  CHECK_THAT(matmul(stored_transposed(a), stored_transposed(b)), IsCloseTo(each(a, b)));
  const Tensor one = b.slice(0, 0, 1);
  CHECK_THAT(matmul(a, one), IsCloseTo(each(a, one.expand(b.shape()))));
  CHECK_THAT(matmul(a, b[1][2]), IsCloseTo(each(a, b[1][2].expand(b.shape()))));
  CHECK_THAT(matmul(a[1], b), IsCloseTo(each(a[1].expand(a.shape()), b)));
  CHECK_THAT(matmul(a[0][1], b), IsCloseTo(each(a[0][1].expand(a.shape()), b)));
}

// C034: no rows, no columns, or nothing to sum over.
TEST_CASE("matmul: sizes of 0") {
  CHECK(matmul(zeros({0, 3}), zeros({3, 4})).shape() == Shape{0, 4});
  CHECK(matmul(zeros({2, 3}), zeros({3, 0})).shape() == Shape{2, 0});
  CHECK_THAT(matmul(zeros({2, 0}), zeros({0, 3})), HasValues({{0, 0, 0}, {0, 0, 0}}));
  CHECK_THAT(matmul(zeros({0}), zeros({0})), HasValues(0));
  CHECK_THAT(matmul(zeros({2, 1, 0}), zeros({0, 3})), HasValues({{{0, 0, 0}}, {{0, 0, 0}}}));
  CHECK(matmul(zeros({0, 2, 3}), zeros({3, 4})).shape() == Shape{0, 2, 4});
  CHECK(matmul(zeros({0, 2, 3}), zeros({1, 3, 4})).shape() == Shape{0, 2, 4});

  const Tensor weight = ones({4, 3}).requires_grad_();
  const Tensor bias = ones({4}).requires_grad_();
  const Tensor y = linear(zeros({0, 3}), weight, bias);
  CHECK(y.shape() == Shape{0, 4});
  y.sum().backward();
  CHECK_THAT(weight.grad(), IsCloseTo(zeros({4, 3})));
  CHECK_THAT(bias.grad(), IsCloseTo(zeros({4})));
}

// However many products of nothing there are, no kernel may count them.
TEST_CASE("matmul: a huge stack without elements takes no time") {
  const Index many = Index{1} << 40;
  CHECK(matmul(zeros({many, 1, 0}), zeros({many, 0, 0})).shape() == Shape{many, 1, 0});
}

// C076: vectors keep their shape, and batch axes are summed.
TEST_CASE("matmul: gradients of vectors and of broadcast operands") {
  SECTION("matrix times vector") {
    const Tensor a = leaf({{1, 2}, {3, 4}});
    const Tensor b = leaf({1, 1});
    matmul(a, b).sum().backward();
    CHECK_THAT(a.grad(), HasValues({{1, 1}, {1, 1}}));
    CHECK_THAT(b.grad(), HasValues({4, 6}));
  }
  SECTION("vector times matrix") {
    const Tensor a = leaf({1, 1});
    const Tensor b = leaf({{1, 2}, {3, 4}});
    matmul(a, b).sum().backward();
    CHECK_THAT(a.grad(), HasValues({3, 7}));
    CHECK_THAT(b.grad(), HasValues({{1, 1}, {1, 1}}));
  }
  SECTION("dot product") {
    const Tensor a = leaf({1, 2, 3});
    const Tensor b = leaf({4, 5, 6});
    matmul(a, b).backward();
    CHECK_THAT(a.grad(), HasValues({4, 5, 6}));
    CHECK_THAT(b.grad(), HasValues({1, 2, 3}));
  }
  SECTION("a batch on the right only") {
    const Tensor a = random_normal({10, 12}, 7).requires_grad_();
    const Tensor b = random_normal({2, 12, 14}, 8).requires_grad_();
    const Tensor g = random_normal({2, 10, 14}, 9);
    matmul(a, b).backward({.gradient = g});
    const Tensor each = plain_product(g[0], b.detach()[0].transpose(0, 1)) +
                        plain_product(g[1], b.detach()[1].transpose(0, 1));
    CHECK_THAT(a.grad(), IsCloseTo(each));
    CHECK_THAT(b.grad()[1], IsCloseTo(plain_product(a.detach().transpose(0, 1), g[1])));
  }
  SECTION("a batch on the left only") {
    const Tensor a = random_normal({2, 3, 4}, 10).requires_grad_();
    const Tensor b = random_normal({4, 5}, 11).requires_grad_();
    const Tensor g = random_normal({2, 3, 5}, 12);
    matmul(a, b).backward({.gradient = g});
    CHECK_THAT(b.grad(),
               IsCloseTo(plain_product(a.detach().view({6, 4}).transpose(0, 1), g.view({6, 5}))));
    CHECK_THAT(a.grad().view({6, 4}),
               IsCloseTo(plain_product(g.view({6, 5}), b.detach().transpose(0, 1))));
  }
}

// C057, C058: inner sizes never stretch; batch axes may. The text has both shapes.
TEST_CASE("matmul: what cannot be multiplied") {
  CHECK(error_text<ShapeError>([] {
          matmul(zeros({8, 24, 64}), zeros({32, 256}));
        }) ==
        "matmul: inner sizes differ (64 vs 32)\n"
        "  got    x (8, 24, 64) float32, other (32, 256) float32\n"
        "  need   the last axis of x equal to the last but one of other");
  CHECK(error_text<ShapeError>([] {
          matmul(zeros({2, 1}), zeros({3, 4}));
        }) ==
        "matmul: inner sizes differ (1 vs 3)\n"
        "  got    x (2, 1) float32, other (3, 4) float32\n"
        "  need   the last axis of x equal to the last but one of other");
  CHECK_THROWS_AS(matmul(zeros({2, 3}), zeros({1, 4})), ShapeError);
  CHECK_THROWS_AS(matmul(zeros({3}), zeros({1})), ShapeError);
  CHECK_THROWS_AS(matmul(zeros({3}), zeros({1, 4})), ShapeError);
  CHECK(matmul(zeros({1, 2, 3}), zeros({5, 3, 4})).shape() == Shape{5, 2, 4});
  CHECK(error_text<ShapeError>([] { matmul(zeros({}), zeros({2})); }) ==
        "matmul: a tensor without axes is no matrix\n"
        "  got    x () float32, other (2,) float32\n"
        "  hint   x * other");
  CHECK(error_text<DTypeError>([] {
          matmul(zeros({2, 2}), zeros({2, 2}, float64));
        }) ==
        "matmul: float32 and float64 are not mixed silently\n"
        "  got    x (2, 2) float32, other (2, 2) float64\n"
        "  hint   other.to(float32), or model.to(float64) for gradient checks");
  CHECK_THROWS_AS(matmul(zeros({2, 2}, int64), zeros({2, 2}, int64)), DTypeError);
  CHECK(error_text<ShapeError>([] {
          matmul(zeros({2, 3, 4}), zeros({5, 4, 6}));
        }) ==
        "matmul: shapes do not broadcast (2 vs 5 on axis 0)\n"
        "  got    x (2, 3, 4), other (5, 4, 6)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
}

TEST_CASE("linear: x times the weight transposed, plus the bias") {
  const Tensor x = tensor({{1, 2, 3}, {0, 1, 0}}, float64);
  const Tensor weight = tensor({{1, 0, 0}, {1, 1, 1}}, float64);
  CHECK_THAT(linear(x, weight), HasValues({{1, 6}, {0, 1}}));
  CHECK_THAT(linear(x, weight, tensor({10, 20}, float64)), HasValues({{11, 26}, {10, 21}}));
  CHECK_THAT(linear(x[0], weight, tensor({10, 20}, float64)), HasValues({11, 26}));
  CHECK_THAT(linear(x.view({2, 1, 3}), weight), HasValues({{{1, 6}}, {{0, 1}}}));
}

TEST_CASE("linear: with a bias it is one step of the tape") {
  const Tensor x = random_normal({2, 3, 4}, 1).requires_grad_();
  const Tensor weight = random_normal({5, 4}, 2).requires_grad_();
  const Tensor bias = random_normal({5}, 3).requires_grad_();
  const Tensor g = random_normal({2, 3, 5}, 4);
  const Tensor y = linear(x, weight, bias);
  CHECK(std::string(y.impl().node->name()) == "linear");
  CHECK(y.impl().node->inputs().size() == 3);
  CHECK_THAT(y, IsCloseTo(matmul(x, weight.transpose(0, 1)) + bias));
  y.backward({.gradient = g});
  CHECK_THAT(x.grad(), IsCloseTo(matmul(g, weight)));
  CHECK_THAT(weight.grad(), IsCloseTo(matmul(g.view({6, 5}).transpose(0, 1), x.view({6, 4}))));
  CHECK_THAT(bias.grad(), IsCloseTo(sum(g, {0, 1})));
}

TEST_CASE("linear: operands of any strides, and no features at all") {
  const Tensor x = random_normal({4, 3, 2}, 1).transpose(0, 2);
  const Tensor weight = stored_transposed(random_normal({5, 4}, 2));
  const Tensor bias = random_normal({10}, 3).slice(0, 0, 10, 2);
  const Tensor want = matmul(x.contiguous(), weight.contiguous().transpose(0, 1)) + bias;
  CHECK_THAT(linear(x, weight, bias), IsCloseTo(want));
  const Tensor row = tensor({1, 2, 3}, float64);
  CHECK_THAT(linear(zeros({2, 0}, float64), zeros({3, 0}, float64), row),
             HasValues({{1, 2, 3}, {1, 2, 3}}));
}

TEST_CASE("linear: what does not fit") {
  CHECK(error_text<ShapeError>([] {
          linear(zeros({2, 4}), zeros({5, 3}));
        }) ==
        "linear: x has 4 features, the weight takes 3\n"
        "  got    x (2, 4) float32, weight (5, 3) float32\n"
        "  need   x (..., 3)");
  CHECK(error_text<ShapeError>([] {
          linear(zeros({}), zeros({5, 3}));
        }) ==
        "linear: x has 0 features, the weight takes 3\n"
        "  got    x () float32, weight (5, 3) float32\n"
        "  need   x (..., 3)");
  CHECK(error_text<ShapeError>([] { linear(zeros({3}), zeros({3})); }) ==
        "linear: weight must have two axes (out, in), not 1\n"
        "  got    weight (3,) float32");
}

// A bias that merely broadcasts, (1) or (5, 1, 2), is a mistake: it would be added, or enlarge y.
TEST_CASE("linear: the bias has one number per output") {
  CHECK_THROWS_AS(linear(zeros({2, 3}), zeros({4, 3}), zeros({3})), ShapeError);
  CHECK(error_text<ShapeError>([] {
          linear(zeros({2, 3}), zeros({4, 3}), zeros({1}));
        }) ==
        "linear: the bias must have one number for each of the 4 outputs\n"
        "  got    bias (1,) float32, weight (4, 3) float32");
  CHECK_THROWS_AS(linear(zeros({2, 3}), zeros({4, 3}), zeros({5, 1, 4})), ShapeError);
  CHECK_THROWS_AS(linear(zeros({2, 3}), zeros({4, 3}), zeros({})), ShapeError);
}
