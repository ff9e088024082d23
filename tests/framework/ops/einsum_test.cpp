// Einsum: every common form beside the op that it stands for, axes that broadcast, diagonals, and
// equations that say nothing.
#include "framework/ops/einsum.h"

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("einsum: products of matrices and their stacks") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor a = random_normal({3, 4}, 1, dtype);
  const Tensor b = random_normal({4, 5}, 2, dtype);
  CHECK_THAT(einsum("ij,jk->ik", {a, b}), IsCloseTo(matmul(a, b)));
  CHECK_THAT(einsum("ij,jk", {a, b}), IsCloseTo(matmul(a, b)));
  CHECK_THAT(einsum(" i j , j k -> k i ", {a, b}), IsCloseTo(matmul(a, b).transpose(0, 1)));
  CHECK_THAT(einsum("ji,jk", {a.transpose(0, 1), b}), IsCloseTo(matmul(a, b)));
  CHECK_THAT(einsum("Xj,jx->Xx", {a, b}), IsCloseTo(matmul(a, b)));  // two letters

  const Tensor q = random_normal({2, 3, 4, 5}, 3, dtype);
  const Tensor k = random_normal({2, 3, 6, 5}, 4, dtype);
  CHECK_THAT(einsum("bhqd,bhkd->bhqk", {q, k}), IsCloseTo(matmul(q, k.transpose(-2, -1))));
  CHECK_THAT(einsum("bhqd,bhkd->bqhk", {q, k}),
             IsCloseTo(matmul(q, k.transpose(-2, -1)).transpose(1, 2)));
  CHECK_THAT(einsum("bhqd,bhkd->qk", {q, k}),
             IsCloseTo(matmul(q, k.transpose(-2, -1)).sum({0, 1})));
  CHECK_THAT(einsum("...ij,jk->...ik", {q, random_normal({5, 2}, 5, dtype)}),
             IsCloseTo(matmul(q, random_normal({5, 2}, 5, dtype))));
}

TEST_CASE("einsum: products element by element, outer and inner") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor u = tensor({1, 2, 3}, dtype);
  const Tensor v = tensor({4, 5, 6}, dtype);
  CHECK_THAT(einsum("i,i", {u, v}), HasValues(32));
  CHECK_THAT(einsum("i,i->", {u, v}), HasValues(32));
  CHECK_THAT(einsum("i,i->i", {u, v}), HasValues({4, 10, 18}));
  CHECK_THAT(einsum("i,j->ij", {u, v.slice(0, 0, 2)}), HasValues({{4, 5}, {8, 10}, {12, 15}}));
  CHECK_THAT(einsum("i,j", {u, v.slice(0, 0, 2)}), HasValues({{4, 5}, {8, 10}, {12, 15}}));
  CHECK_THAT(einsum("i,j->i", {u, v}), HasValues({15, 30, 45}));
  CHECK_THAT(einsum("i,j->", {u, v}), HasValues(90));
  CHECK_THAT(einsum(",i", {tensor(2, dtype), u}), HasValues({2, 4, 6}));
  CHECK_THAT(einsum(",", {tensor(2, dtype), tensor(3, dtype)}), HasValues(6));
}

TEST_CASE("einsum: one operand is turned, summed, or cut along its diagonal") {
  const DType dtype = GENERATE(float32, float64, int64);
  const Tensor x = tensor({{1, 2}, {3, 4}}, dtype);
  CHECK_THAT(einsum("ij->ji", {x}), HasValues({{1, 3}, {2, 4}}));
  CHECK_THAT(einsum("ba", {x}), HasValues({{1, 3}, {2, 4}}));  // in alphabetical order
  CHECK_THAT(einsum("ij->j", {x}), HasValues({4, 6}));
  CHECK_THAT(einsum("ij->", {x}), HasValues(10));
  CHECK_THAT(einsum("ii->i", {x}), HasValues({1, 4}));
  CHECK_THAT(einsum("ii", {x}), HasValues(5));
  CHECK_THAT(einsum("->", {tensor(3, dtype)}), HasValues(3));
  CHECK_THAT(einsum("...i->...", {x}), HasValues({3, 7}));
  CHECK_THAT(einsum("...i->i...", {x}), HasValues({{1, 3}, {2, 4}}));
  CHECK_THAT(einsum("i...", {x}), HasValues({{1, 3}, {2, 4}}));  // "..." comes first
  const Tensor cube = arange(8).view({2, 2, 2}).to(dtype);
  CHECK_THAT(einsum("iii->i", {cube}), HasValues({0, 7}));
  CHECK_THAT(einsum("iji->ji", {cube}), HasValues({{0, 5}, {2, 7}}));
}

TEST_CASE("einsum: NaN beside a diagonal does not count") {
  const Tensor x = tensor({{1, kNaN}, {kInf, 2}}, float64);
  CHECK_THAT(einsum("ii->i", {x}), HasValues({1, 2}));
  CHECK_THAT(einsum("ii,i->", {x, tensor({3, 4}, float64)}), HasValues(11));
}

TEST_CASE("einsum: axes that broadcast") {
  const Tensor a = random_normal({2, 1, 3, 4}, 1);
  const Tensor b = random_normal({5, 4, 2}, 2);
  CHECK_THAT(einsum("...ij,...jk->...ik", {a, b}), IsCloseTo(matmul(a, b)));
  CHECK_THAT(einsum("...ij,...jk", {a, b}), IsCloseTo(matmul(a, b)));
  CHECK_THAT(einsum("...ij,...jk->ik", {a, b}), IsCloseTo(matmul(a, b).sum({0, 1})));
  CHECK_THAT(einsum("...,...->...", {a, random_normal({3, 1}, 3)}),
             IsCloseTo(a * random_normal({3, 1}, 3)));
  // A letter of size 1 stretches, too, and is then summed over its whole length.
  CHECK_THAT(einsum("ij,ij->", {ones({2, 1}), ones({2, 3})}), HasValues(6));
  CHECK_THAT(einsum("ij,ij->ij", {tensor({{1}, {2}}), tensor({{1, 2, 3}})}),
             HasValues({{1, 2, 3}, {2, 4, 6}}));
}

TEST_CASE("einsum: dots stand for as many axes as a tensor can have") {
  const Tensor x = random_normal({2, 1, 3, 1, 2, 1, 1, 2}, 1);
  CHECK_THAT(einsum("...", {x}), IsCloseTo(x, exactly));
  CHECK_THAT(einsum("...,...", {x, x}), IsCloseTo(x * x));
  CHECK(error_text<ShapeError>([&] {
          einsum("...,...->...", {x, ones({3, 1, 3, 1, 2, 1, 1, 2}, float64)});
        }) == "einsum: '...' names axes of sizes 2 and 3");
}

TEST_CASE("einsum: gradients have the shapes of the operands") {
  const Tensor a = leaf({{1}, {2}});
  const Tensor b = leaf({{1, 2, 3}, {4, 5, 6}});
  const std::vector<Tensor> found = gradients({einsum("ij,ij->", {a, b})}, {a, b});
  CHECK_THAT(found[0], HasValues({{6}, {15}}));
  CHECK_THAT(found[1], HasValues({{1, 1, 1}, {2, 2, 2}}));
}

// C034
TEST_CASE("einsum: sizes of 0") {
  CHECK(einsum("ij,jk->ik", {zeros({0, 3}), zeros({3, 2})}).shape() == Shape{0, 2});
  CHECK_THAT(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 2})}), HasValues({{0, 0}, {0, 0}}));
  CHECK_THAT(einsum("ij->i", {zeros({2, 0})}), HasValues({0, 0}));
  CHECK_THAT(einsum("ii", {zeros({0, 0})}), HasValues(0));
}

TEST_CASE("einsum: equations that say nothing") {
  const Tensor a = ones({2, 3});
  const Tensor b = ones({3, 2});
  const auto refused = [&](std::string_view equation, const std::string& why) {
    INFO(equation);
    CHECK(error_text<ValueError>([&] {
            einsum(equation, {a, b});
          }) ==
          text("einsum: ", why, "\n  got    equation '", equation,
               "'\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands"));
  };
  refused("ij", "1 terms for 2 operands");
  refused("", "1 terms for 2 operands");
  refused("ij,jk,kl->il", "',' is no name of an axis");
  refused("i1,jk", "'1' is no name of an axis");
  refused("ij,jk->i_k", "'_' is no name of an axis");
  refused("ij,jk->ik->", "'-' is no name of an axis");
  refused("i..,jk", "'.' is no name of an axis");
  refused("ij,jk->iz", "no operand has the axis 'z'");
  refused("ij,jk->ii", "the result names 'i' twice");
  refused("ijk,jk", "term 'ijk' does not name the axes of (2, 3)");
  refused("ij,j", "term 'j' does not name the axes of (3, 2)");
  refused("...ijk,jk", "term '...ijk' does not name the axes of (2, 3)");
  CHECK_THROWS_AS(einsum("", {}), ValueError);
  CHECK_THROWS_AS(einsum("i,i,i", {ones({2}), ones({2}), ones({2})}), ValueError);
}

// C057, C058: only a 1 stretches.
TEST_CASE("einsum: sizes and dtypes that do not fit") {
  CHECK(error_text<ShapeError>([] {
          einsum("ij,ik->jk", {ones({2, 3}), ones({4, 3})});
        }) == "einsum: 'i' names axes of sizes 2 and 4");
  CHECK(error_text<ShapeError>([] {
          einsum("ii", {ones({2, 3})});
        }) == "einsum: 'i' names axes of sizes 2 and 3");
  CHECK_THROWS_AS(einsum("...i,...i->...", {ones({2, 3}), ones({4, 3})}), ShapeError);
  CHECK(error_text<DTypeError>([] {
          einsum("i,i", {ones({2}, int64), ones({2}, int64)});
        }).starts_with("einsum: needs a floating tensor, not int64"));
  CHECK(error_text<DTypeError>([] {
          einsum("i,i", {ones({2}), ones({2}, float64)});
        }).starts_with("einsum: float32 and float64 are not mixed silently"));
}
