// Where infinity, an empty axis or a large integer meets a rule: the choices that the headers
// document, and errors that lead with the op the caller named.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/einsum.h"
#include "framework/ops/extreme.h"
#include "framework/ops/indexing.h"
#include "framework/ops/join.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/rotary.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "framework/optim/clip.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

constexpr Index kHuge = std::numeric_limits<Index>::max();

}  // namespace

TEST_CASE("edges: powers of 0 and to the 0th have the derivatives they promise") {
  const Tensor x = leaf({0, kInf, kNaN});
  pow(x, 0).sum().backward();
  CHECK_THAT(x.grad(), HasValues({0, 0, 0}));
  const Tensor exponent = leaf({-1, 0, 2});
  const Tensor y = pow(tensor({0, 0, 0}, float64), exponent).sum();
  const Tensor first = gradients({y}, {exponent}, {.create_graph = true})[0];
  CHECK_THAT(first, HasValues({0, 0, 0}));
  CHECK_THAT(gradients({first.sum()}, {exponent})[0], HasValues({0, 0, 0}));
}

TEST_CASE("edges: norms beside an element of 0, to second order") {
  for (const double p : {0.5, 1.5, 3.0}) {
    const Tensor x = leaf({0, 2});
    const Tensor first = gradients({norm(x, p)}, {x}, {.create_graph = true})[0];
    CHECK_THAT(first, HasValues({0, 1}));
    CHECK_THAT(gradients({(first * first).sum()}, {x})[0], HasValues({0, 0}));
  }
}

TEST_CASE("edges: logsumexp of -inf throughout has a gradient of 0") {
  const Tensor x = leaf({{-kInf, -kInf}, {0, -kInf}});
  const Tensor y = logsumexp(x, {1});
  CHECK_THAT(y, HasValues({-kInf, 0}));
  const Tensor first =
      gradients({y}, {x}, {.grad_outputs = {ones({2}, float64)}, .create_graph = true})[0];
  CHECK_THAT(first, HasValues({{0, 0}, {1, 0}}));
  CHECK_THAT(gradients({(first * first).sum()}, {x})[0], HasValues({{0, 0}, {0, 0}}));
}

TEST_CASE("edges: the variance of equal numbers is 0") {
  const Tensor x = full({256}, 1234.1, float32).requires_grad_();
  const Tensor y = gradus::std(x);
  CHECK(y.item() == 0);
  y.backward();
  CHECK_THAT(x.grad(), IsCloseTo(zeros({256}), exactly));
}

TEST_CASE("edges: prod and repeat share no memory with x, and prod of nothing is on the tape") {
  Tensor x = ones({3, 1});
  prod(x, 1).fill_(7);
  prod(x, 1, true).fill_(7);
  repeat(x, {1, 1, 1}).fill_(7);
  CHECK_THAT(x, HasValues({{1}, {1}, {1}}));
  const Tensor empty = zeros({2, 0}).requires_grad_();
  prod(empty, 1).sum().backward();
  CHECK(empty.grad().shape() == Shape{2, 0});
}

TEST_CASE("edges: integers beyond 2^53 and fractions among them") {
  const std::int64_t large = std::int64_t{1} << 53;
  CHECK_THAT(topk(from_vector<std::int64_t>({large, large + 1}), 1).indices, HasValues({1}));
  CHECK(error_text<DTypeError>([] {
          clamp(tensor({0, 5}, int64), 0.5);
        }) ==
        "clamp: 0.5 does not fit a int64 tensor\n"
        "  got    x (2,) int64\n"
        "  hint   x.to(float32)");
}

TEST_CASE("edges: keepdim of a position among all") {
  const Tensor x = tensor({{1, 5}, {9, -2}});
  CHECK_THAT(argmax(x, std::nullopt, true), HasValues({{2}}));
  CHECK_THAT(argmin(x, std::nullopt, true), HasValues({{3}}));
}

TEST_CASE("edges: classes of probability 0") {
  const Tensor input = leaf({{0, -kInf}});
  const Tensor loss = cross_entropy(input, tensor({{1, 0}}, float64));
  CHECK_THAT(loss, HasValues(0));
  loss.backward();
  CHECK_THAT(input.grad(), HasValues({{0, 0}}));
  CHECK_THAT(cross_entropy(input, tensor({1}, int64), {.label_smoothing = 1}), HasValues(kInf));

  const Tensor log_input = leaf({-1, -kInf});
  const Tensor target = leaf({1, 0});
  kl_div(log_input, target, Reduction::sum).backward();
  CHECK_THAT(log_input.grad(), HasValues({-1, 0}));
  CHECK_THAT(target.grad(), HasValues({2, 0}));
  const Tensor log_target = leaf({0, -kInf});
  const Tensor divergence = kl_div(log_input, log_target, Reduction::sum, true);
  CHECK_THAT(divergence, HasValues(1));
  CHECK_THAT(gradients({divergence}, {log_target})[0], HasValues({2, 0}));
}

TEST_CASE("edges: a norm of float64 gradients neither overflows nor vanishes") {
  for (const double size : {1e200, 1e-200}) {
    for (const double p : {1.0, 2.0, 3.0}) {
      const Tensor a = zeros({2}, float64).requires_grad_();
      a.set_grad(full({2}, size, float64));
      CHECK(clip_grad_norm_({a}, 1e300, p) == Catch::Approx(size * std::pow(2, 1 / p)));
    }
  }
  const Tensor a = zeros({1}, float64).requires_grad_();
  a.set_grad(full({1}, 1e200, float64));
  clip_grad_norm_({a}, 1);
  CHECK_THAT(a.grad(), HasValues({1}));
}

TEST_CASE("edges: sizes near the end of the integers") {
  CHECK(chunk(zeros({3}), kHuge).size() == 3);
  CHECK(split(zeros({3}), kHuge).size() == 1);
  CHECK(chunk(zeros({0}), kHuge).size() == 1);
  CHECK(error_text<ValueError>([] {
          split(zeros({3}), {1, kHuge, kHuge});
        }) == "split: the sizes add up to more than 3\n  got    x (3,) float32, axis 0");
  CHECK_THROWS_AS(repeat(zeros({3}), {kHuge}), ShapeError);
  CHECK_THROWS_AS(repeat(zeros({3}), {kHuge / 2, 4}), ShapeError);
}

TEST_CASE("edges: errors lead with the op that was called") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] { argmax(x, 2); }) ==
        "argmax: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([] { argmin(zeros({0})); }) ==
        "argmin: axis 0 has no elements to choose from\n  got    x (0,) float32");
  CHECK(error_text<ValueError>([&] {
          index_select(x, 1, tensor({0, 3}, int64));
        }) ==
        "index_select: index 3 is outside 0..2\n"
        "  got    indices (2,), first at (1,), 1 of 2 outside; x (2, 3), axis 1");
  CHECK(error_text<ValueError>([] {
          one_hot(tensor({0, -1}, int64));
        }) ==
        "one_hot: index -1 is outside 0..0\n"
        "  got    indices (2,), first at (1,), 1 of 2 outside; 1 classes");
  CHECK(error_text<ShapeError>([&] { split(x, 1, 2); }) ==
        "split: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([] { chunk(tensor(1), 1); }) ==
        "chunk: a tensor without axes cannot be split");
  CHECK(error_text<DTypeError>([] {
          stack({zeros({2}), zeros({2}, float64)});
        }).starts_with("stack: float32 and float64 are not mixed silently"));
  CHECK(error_text<ShapeError>([] {
          kl_div(zeros({2}), zeros({3}));
        }).starts_with("kl_div: shapes do not broadcast (2 vs 3 on axis 0)"));
  CHECK(error_text<ShapeError>([] {
          einsum("...i,...i->...", {ones({2, 3}), ones({4, 3})});
        }) == "einsum: '...' names axes of sizes 2 and 4");
  CHECK(error_text<ShapeError>([] {
          rotary_embedding(ones({2, 4}), ones({3, 2, 2}), ones({3, 2, 2}));
        }) ==
        "rotary_embedding: the angles are more than x has pairs\n"
        "  got    x (2, 4) float32, cos (3, 2, 2), sin (3, 2, 2)");
  CHECK(error_text<DTypeError>([] {
          rotary_embedding(ones({2, 4}), ones({2}, float64), ones({2}, float64));
        }).starts_with("rotary_embedding: float32 and float64 are not mixed silently"));
  using Function = Tensor (*)(const Tensor&);
  const std::pair<const char*, Function> rows[] = {
      {"silu", silu}, {"rsqrt", rsqrt}, {"reciprocal", reciprocal}};
  for (const auto& [name, function] : rows) {
    CHECK(error_text<DTypeError>([&call = function] {
            call(zeros({2}, int64));
          }).starts_with(text(name, ": needs a floating tensor, not int64")));
  }
}

TEST_CASE("edges: an infinite gradient reaches what was chosen, and nothing else") {
  const DType dtype = GENERATE(float32, float64);
  using Function = std::function<Tensor(const Tensor&)>;
  const std::pair<const char*, Function> choices[] = {
      {"maximum", [](const Tensor& x) { return maximum(x, zeros_like(x)); }},
      {"maximum, the other", [](const Tensor& x) { return maximum(zeros_like(x), x); }},
      {"minimum", [](const Tensor& x) { return -minimum(-x, zeros_like(x)); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"clamp", [](const Tensor& x) { return clamp(x, 0); }},
      {"where", [](const Tensor& x) { return where(gt(x, 0), x, zeros_like(x)); }},
      {"masked_fill", [](const Tensor& x) { return masked_fill(x, lt(x, 0), 0); }}};
  for (const auto& [name, choose] : choices) {
    INFO(name);
    const Tensor x = leaf({-1, 4, -9}, dtype);
    sqrt(choose(x)).sum().backward();  // infinitely steep at 0
    CHECK_THAT(x.grad(), HasValues({0, 0.25, 0}));
  }
  const std::pair<const char*, Function> extremes[] = {
      {"amax", [](const Tensor& x) { return amax(x); }},
      {"amax of an axis", [](const Tensor& x) { return amax(x, {0}, true); }},
      {"amin", [](const Tensor& x) { return -amin(-x); }},
      {"max", [](const Tensor& x) { return max(x); }},
      {"max along an axis", [](const Tensor& x) { return max(x, 0).values; }},
      {"topk", [](const Tensor& x) { return topk(x, 1).values; }}};
  for (const auto& [name, choose] : extremes) {
    INFO(name);
    const Tensor x = leaf({-1, 0, -9}, dtype);
    sqrt(choose(x)).sum().backward();
    CHECK_THAT(x.grad(), HasValues({0, kInf, 0}));
  }
}

TEST_CASE("edges: where NaN is the largest, its gradient goes there") {
  for (const bool largest : {true, false}) {
    const Tensor x = leaf({{1, kNaN, 3}, {4, 4, 2}});
    (largest ? amax(x, {1}) : amin(x, {1})).backward({.gradient = tensor({6, 8}, float64)});
    if (largest) {
      CHECK_THAT(x.grad(), HasValues({{0, 6, 0}, {4, 4, 0}}));
    } else {
      CHECK_THAT(x.grad(), HasValues({{0, 6, 0}, {0, 0, 8}}));
    }
  }
}
