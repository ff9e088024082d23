// Views and what goes with them: what shares memory and what copies, sizes of 0, gradients, and
// what does not fit.
#include "framework/ops/views.h"
#include "framework/ops/join.h"
#include "framework/ops/reduce.h"

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

Tensor counting(const Shape& shape) {
  return arange(static_cast<double>(element_count(shape)), float64).view(shape);
}

bool share_memory(const Tensor& a, const Tensor& b) { return a.impl().storage == b.impl().storage; }

}  // namespace

TEST_CASE("view: another shape over the same memory") {
  const Tensor x = counting({2, 6});
  const Tensor y = x.view({3, -1});
  CHECK(y.shape() == Shape{3, 4});
  CHECK(share_memory(x, y));
  CHECK_THAT(y, HasValues({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
  CHECK(x.view({2, 1, 6, 1}).shape() == Shape{2, 1, 6, 1});
  CHECK(tensor(3).view({1, 1}).shape() == Shape{1, 1});
  CHECK(tensor({{3}}).view({}).shape() == Shape{});
  CHECK(zeros({0, 3}).view({3, 0}).shape() == Shape{3, 0});
  CHECK(zeros({0, 3}).view({-1, 3}).shape() == Shape{0, 3});
}

// C054: what the strides allow works without a copy, and the error says what does not and why.
TEST_CASE("view: of tensors with gaps") {
  const Tensor x = counting({2, 3, 4});
  CHECK_THAT(x.transpose(0, 1).view({3, 2, 2, 2}),
             IsCloseTo(x.transpose(0, 1).contiguous().view({3, 2, 2, 2})));
  CHECK_THAT(x.slice(2, 1, 3).view({6, 2}),
             HasValues({{1, 2}, {5, 6}, {9, 10}, {13, 14}, {17, 18}, {21, 22}}));
  CHECK_THAT(x.slice(2, 0, 2).view({6, 2, 1}),
             IsCloseTo(x.slice(2, 0, 2).contiguous().view({6, 2, 1})));
  CHECK_THAT(x.slice(0, 1).transpose(1, 2).view({4, 3}), IsCloseTo(x.select(0, 1).transpose(0, 1)));
  CHECK_THAT(x.slice(1, 0, 1).view({2, 4}), HasValues({{0, 1, 2, 3}, {12, 13, 14, 15}}));
  CHECK_THAT(x.slice(1, 2, 3).transpose(0, 1).view({1, 2, 4}),
             HasValues({{{8, 9, 10, 11}, {20, 21, 22, 23}}}));
  CHECK_THAT(counting({3}).expand({2, 2, 3}).view({4, 3}),
             HasValues({{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}}));
  CHECK(share_memory(x, x.slice(2, 1, 3).view({6, 2})));

  const Tensor transposed = tensor({{1, 2, 3}, {4, 5, 6}}).transpose(0, 1);
  CHECK(error_text<ShapeError>([&] { transposed.view({6}); }) ==
        "view: the strides do not allow (6,) without a copy\n"
        "  got    x (3, 2) with strides (1, 3)\n"
        "  hint   reshape() copies where it must; or contiguous().view(...)");
  CHECK_THROWS_AS(counting({3}).expand({2, 3}).view({6}), ShapeError);
  CHECK_THROWS_AS(x.slice(2, 0, 2).view({12}), ShapeError);
  CHECK_THROWS_AS(x.transpose(0, 2).view({4, 6}), ShapeError);
}

TEST_CASE("reshape: copies where it must, and only there") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, float64);
  CHECK_THAT(x.transpose(0, 1).reshape({6}), HasValues({1, 4, 2, 5, 3, 6}));
  CHECK_FALSE(share_memory(x, x.transpose(0, 1).reshape({6})));
  CHECK(share_memory(x, x.reshape({3, 2})));
  CHECK(zeros({0, 2}).transpose(0, 1).reshape({0}).shape() == Shape{0});
  const Tensor y = leaf({{1, 2, 3}, {4, 5, 6}});
  y.transpose(0, 1).reshape({6}).backward({.gradient = counting({6})});
  CHECK_THAT(y.grad(), HasValues({{0, 2, 4}, {1, 3, 5}}));
}

TEST_CASE("view, reshape: shapes that do not fit") {
  const Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] { x.view({4}); }) ==
        "view: 6 elements do not fill (4,)\n  got    x (2, 3), shape (4,)");
  CHECK(error_text<ShapeError>([&] {
          x.reshape({4, -1});
        }) == "reshape: 6 elements do not fill (4, -1)\n  got    x (2, 3), shape (4, -1)");
  CHECK(error_text<ShapeError>([&] {
          x.view({-1, -1});
        }) == "view: only one size may be -1\n  got    x (2, 3), shape (-1, -1)");
  CHECK(error_text<ShapeError>([&] {
          x.view({-2, 3});
        }) == "view: negative size -2\n  got    x (2, 3), shape (-2, 3)");
  CHECK(error_text<ShapeError>([&] {
          zeros({0, 3}).view({0, -1});
        }) == "view: -1 could be any size beside a 0\n  got    x (0, 3), shape (0, -1)");
  CHECK_THROWS_AS(x.view({1, 1, 1, 1, 1, 1, 1, 2, 3}), ShapeError);
  CHECK_THROWS_AS(zeros({0}).view({Index{1} << 32, Index{1} << 32}), ShapeError);
}

TEST_CASE("flatten: joins axes") {
  const Tensor x = counting({2, 3, 4});
  CHECK(x.flatten().shape() == Shape{24});
  CHECK(x.flatten(1).shape() == Shape{2, 12});
  CHECK(x.flatten(0, 1).shape() == Shape{6, 4});
  CHECK(x.flatten(-2, -1).shape() == Shape{2, 12});
  CHECK(x.flatten(1, 1).shape() == x.shape());
  CHECK(tensor(5).flatten().shape() == Shape{1});
  CHECK_THAT(x.transpose(0, 1).flatten(0, 1).select(1, 0), HasValues({0, 12, 4, 16, 8, 20}));
  CHECK(error_text<ShapeError>([&] { x.flatten(2, 1); }) == "flatten: axis 2 comes after axis 1");
  CHECK(error_text<ShapeError>([&] { x.flatten(0, 3); }) ==
        "flatten: axis 3 is outside -3..2 (rank 3)");
}

TEST_CASE("transpose and permute: move axes without copying") {
  const Tensor x = counting({2, 3});
  CHECK_THAT(x.transpose(0, 1), HasValues({{0, 3}, {1, 4}, {2, 5}}));
  CHECK_THAT(x.transpose(-1, -2), HasValues({{0, 3}, {1, 4}, {2, 5}}));
  CHECK_THAT(x.transpose(1, 1), IsCloseTo(x));
  CHECK(share_memory(x, x.transpose(0, 1)));
  CHECK(tensor(1).transpose(0, 0).shape() == Shape{});
  const Tensor y = counting({2, 3, 4});
  CHECK(y.permute({2, 0, 1}).shape() == Shape{4, 2, 3});
  CHECK(y.permute({2, 0, 1}).at({3, 1, 2}) == y.at({1, 2, 3}));
  CHECK(y.permute({-1, 0, 1}).shape() == Shape{4, 2, 3});
  CHECK(tensor(1).permute({}).shape() == Shape{});
  CHECK(error_text<ShapeError>([&] { x.transpose(0, 2); }) ==
        "transpose: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] { x.permute({0}); }) ==
        "permute: 1 axes given for 2\n  got    axes (0,), x (2, 3)");
  CHECK(error_text<ShapeError>([&] {
          x.permute({0, -2});
        }) == "permute: axis 0 is named twice\n  got    axes (0, 0), rank 2");
  CHECK_THROWS_AS(x.permute({0, 2}), ShapeError);
}

TEST_CASE("expand: repeats axes of size 1 without copying") {
  const Tensor x = tensor({{1}, {2}}, float64);
  CHECK_THAT(x.expand({2, 3}), HasValues({{1, 1, 1}, {2, 2, 2}}));
  CHECK_THAT(x.expand({-1, 3}), HasValues({{1, 1, 1}, {2, 2, 2}}));
  CHECK_THAT(x.expand({2, 2, 2}), HasValues({{{1, 1}, {2, 2}}, {{1, 1}, {2, 2}}}));
  CHECK(x.expand({2, 3}).strides() == Strides{1, 0});
  CHECK(x.expand({2, 1}).is_same(x));
  CHECK(x.expand({2, 0}).shape() == Shape{2, 0});
  CHECK(tensor(7).expand({2}).shape() == Shape{2});
  CHECK(error_text<ShapeError>([&] {
          x.expand({3, 3});
        }) ==
        "expand: (2, 1) cannot become (3, 3)\n"
        "  need   equal sizes, or a 1 to be repeated, counted from the last axis");
  CHECK_THROWS_AS(x.expand({2}), ShapeError);
  CHECK_THROWS_AS(x.expand({-1, 2, 1}), ShapeError);
  CHECK_THROWS_AS(x.expand({2, -2}), ShapeError);
}

// C078: all copies of an element add to its gradient.
TEST_CASE("expand: its gradient adds up") {
  const Tensor x = leaf({1, 2});
  x.expand({3, 2}).backward({.gradient = counting({3, 2})});
  CHECK_THAT(x.grad(), HasValues({0 + 2 + 4, 1 + 3 + 5}));
  const Tensor y = leaf({{1}, {2}});
  y.expand({2, 2, 0}).sum().backward();
  CHECK_THAT(y.grad(), HasValues({{0}, {0}}));
}

TEST_CASE("squeeze and unsqueeze: drop and add axes of size 1") {
  const Tensor x = counting({1, 2, 1, 3});
  CHECK(x.squeeze().shape() == Shape{2, 3});
  CHECK(x.squeeze(0).shape() == Shape{2, 1, 3});
  CHECK(x.squeeze(-2).shape() == Shape{1, 2, 3});
  CHECK(x.squeeze(1).is_same(x));
  CHECK(x.transpose(1, 3).squeeze().shape() == Shape{3, 2});
  CHECK(tensor(1).squeeze().shape() == Shape{});
  CHECK(x.unsqueeze(0).shape() == Shape{1, 1, 2, 1, 3});
  CHECK(x.unsqueeze(-1).shape() == Shape{1, 2, 1, 3, 1});
  CHECK(tensor(1).unsqueeze(0).shape() == Shape{1});
  CHECK(counting({2, 3}).unsqueeze(1).view({6}).shape() == Shape{6});
  CHECK(counting({2, 3}).transpose(0, 1).unsqueeze(1).squeeze(1).strides() == Strides{1, 3});
  CHECK(error_text<ShapeError>([&] { x.unsqueeze(6); }) ==
        "unsqueeze: axis 6 is outside -5..4 (rank 5)");
  CHECK(error_text<ShapeError>([&] { x.squeeze(4); }) ==
        "squeeze: axis 4 is outside -4..3 (rank 4)");
  CHECK(error_text<ShapeError>([] {
          zeros({1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0);
        }) == "shape: one more axis than the 8 that a tensor can have");
}

TEST_CASE("slice: bounds as in Python") {
  const Tensor x = counting({6});
  CHECK_THAT(x.slice(0, 1, 4), HasValues({1, 2, 3}));
  CHECK_THAT(x.slice(0, -2), HasValues({4, 5}));
  CHECK_THAT(x.slice(0, std::nullopt, -4), HasValues({0, 1}));
  CHECK_THAT(x.slice(0, 4, 100), HasValues({4, 5}));
  CHECK_THAT(x.slice(0, -100, 2), HasValues({0, 1}));
  CHECK_THAT(x.slice(0, 0, 6, 2), HasValues({0, 2, 4}));
  CHECK_THAT(x.slice(0, 1, std::nullopt, 3), HasValues({1, 4}));
  CHECK_THAT(x.slice(0, 2, 3, std::numeric_limits<Index>::max()), HasValues({2}));
  CHECK(x.slice(0, 4, 2).shape() == Shape{0});
  CHECK(x.slice(0, 6).shape() == Shape{0});
  CHECK(x.slice(0, 100, 200).shape() == Shape{0});
  CHECK(zeros({0, 2}).slice(0, 0, 1).shape() == Shape{0, 2});
  CHECK(share_memory(x, x.slice(0, 1, 4)));
  CHECK_THAT(counting({3, 4}).slice(1, 1, 4, 2).slice(0, -2), HasValues({{5, 7}, {9, 11}}));
  CHECK(error_text<ValueError>([&] { x.slice(0, 0, 6, 0); }) ==
        "slice: needs a step of at least 1, not 0");
  CHECK(error_text<ValueError>([&] { x.slice(0, 0, 6, -1); }) ==
        "slice: needs a step of at least 1, not -1");
  CHECK(error_text<ShapeError>([&] { x.slice(1, 0); }) ==
        "slice: axis 1 is outside -1..0 (rank 1)");
  CHECK(error_text<ShapeError>([&] { tensor(1).slice(0, 0); }) ==
        "slice: a tensor without axes cannot be sliced");
}

TEST_CASE("slice: its gradient goes back to where the elements came from") {
  const Tensor x = leaf({{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}});
  x.slice(1, 1, 5, 3).backward({.gradient = tensor({{10, 20}, {30, 40}}, float64)});
  CHECK_THAT(x.grad(), HasValues({{0, 10, 0, 0, 20}, {0, 30, 0, 0, 40}}));
  x.zero_grad();
  x.slice(1, 3, 1).sum().backward();
  CHECK_THAT(x.grad(), HasValues({{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}));
  const Tensor whole = slice_backward(tensor({5, 6}, float64), {7}, 0, 1, 3);
  CHECK_THAT(whole, HasValues({0, 5, 0, 0, 6, 0, 0}));
}

TEST_CASE("slice_backward: takes what a slice can have taken, and no more") {
  struct Row {
    Index taken, size, start, step;
  };
  const auto given_back = [](const Row& row) {
    return slice_backward(ones({row.taken}), {row.size}, 0, row.start, row.step);
  };
  for (const Row& row : {Row{1, 5, 4, 9}, Row{2, 5, 0, 4}, Row{3, 5, 0, 2}, Row{5, 5, 0, 1},
                         Row{2, 5, 3, 1}, Row{0, 5, 5, 1}, Row{0, 5, 0, 3}, Row{0, 0, 0, 1}}) {
    const Tensor whole = given_back(row);
    CHECK_THAT(whole.sum(), HasValues(static_cast<double>(row.taken)));
    for (Index i = 0; i < row.taken; ++i) {
      CHECK_THAT(whole[row.start + i * row.step], HasValues(1));
    }
  }
  for (const Row& row :
       {Row{1, 5, 5, 1}, Row{1, 0, 0, 1}, Row{1, 5, -1, 1}, Row{0, 5, -1, 1}, Row{1, 5, 6, 1},
        Row{0, 5, 6, 1}, Row{1, 5, 0, 0}, Row{2, 5, 4, 1}, Row{2, 5, 0, 5}, Row{3, 5, 1, 2}}) {
    const std::string refusal =
        text("slice_backward: ", row.taken, " elements from ", row.start, " in steps of ", row.step,
             " do not fit an axis of ", row.size);
    CHECK(error_text<ValueError>([&] { given_back(row); }).starts_with(refusal));
  }
}

TEST_CASE("select: one slice without its axis") {
  const Tensor x = counting({2, 3});
  CHECK_THAT(x[1], HasValues({3, 4, 5}));
  CHECK_THAT(x[-2], HasValues({0, 1, 2}));
  CHECK_THAT(x.select(1, -1), HasValues({2, 5}));
  CHECK_THAT(x[1][2], HasValues(5));
  CHECK(error_text<ValueError>([&] { x.select(1, 3); }) ==
        "select: index 3 is outside -3..2\n  got    x (2, 3), axis 1");
  CHECK(error_text<ValueError>([&] { x[-3]; }) ==
        "select: index -3 is outside -2..1\n  got    x (2, 3), axis 0");
  CHECK(error_text<ShapeError>([&] { tensor(1)[0]; }) ==
        "select: a tensor without axes has nothing to select");
  CHECK_THROWS_AS(zeros({0})[0], ValueError);
}

TEST_CASE("contiguous and clone: copies, where wanted") {
  const Tensor x = counting({2, 3});
  CHECK(x.contiguous().is_same(x));
  const Tensor packed = x.transpose(0, 1).contiguous();
  CHECK(packed.is_contiguous());
  CHECK_THAT(packed, HasValues({{0, 3}, {1, 4}, {2, 5}}));
  CHECK(x.slice(0, 1).contiguous().is_same(x.slice(0, 1)) == false);
  CHECK(share_memory(x.slice(0, 1).contiguous(), x));  // its rows have no gaps
  CHECK_FALSE(share_memory(x.clone(), x));
  const Tensor y = leaf({1, 2});
  y.clone().backward({.gradient = tensor({3, 4}, float64)});
  CHECK_THAT(y.grad(), HasValues({3, 4}));
}

TEST_CASE("views see what is written through each other") {
  Tensor x = counting({2, 3});
  Tensor column = x.select(1, 1);
  column.fill_(-1);
  CHECK_THAT(x, HasValues({{0, -1, 2}, {3, -1, 5}}));
  CHECK_THAT(x.transpose(0, 1)[1], HasValues({-1, -1}));
}

TEST_CASE("to: converts between all dtypes") {
  const Tensor x = tensor({-1.75, 0, 0.5, 2}, float64);
  CHECK_THAT(x.to(float32), IsCloseTo(tensor({-1.75, 0, 0.5, 2}, float32), exactly));
  CHECK_THAT(x.to(int64), IsCloseTo(from_vector<std::int64_t>({-1, 0, 0, 2})));
  CHECK_THAT(x.to(boolean), IsCloseTo(from_vector<bool>({true, false, true, true})));
  CHECK_THAT(from_vector<bool>({true, false}).to(float32), HasValues({1, 0}));
  CHECK_THAT(from_vector<std::int64_t>({3, -4}).to(boolean).to(int64), HasValues({1, 1}));
  CHECK(x.to(float64).is_same(x));
  CHECK_THAT(tensor({kNaN, kInf, -kInf, 1e300}, float64).to(float32),
             HasValues({kNaN, kInf, -kInf, kInf}));
}

TEST_CASE("to: numbers that no integer can hold become the nearest end, and NaN 0") {
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  const std::int64_t high = std::numeric_limits<std::int64_t>::max();
  const DType dtype = GENERATE(float32, float64);
  CHECK_THAT(tensor({kNaN, kInf, -kInf, 1e30, -1e30, -0x1p63}, dtype).to(int64),
             IsCloseTo(from_vector<std::int64_t>({0, high, low, high, low, low})));
}

TEST_CASE("to: carries gradients back into the dtype they came from") {
  const Tensor x = leaf({1, 2}, float32);
  (x.to(float64) * tensor({3, 4}, float64)).sum().backward();
  CHECK_THAT(x.grad(), IsCloseTo(tensor({3, 4}, float32)));
  CHECK_FALSE(x.to(int64).requires_grad());
  CHECK_FALSE(x.to(boolean).requires_grad());
  const Tensor again = leaf({2}, float64);  // and to second order
  const Tensor y = again.to(float32);
  const Tensor first = gradients({y * y * y}, {again}, {.create_graph = true})[0];
  CHECK_THAT(first, HasValues({12}));
  CHECK_THAT(gradients({first}, {again})[0], HasValues({12}));
}

TEST_CASE("cat: one after another along an axis") {
  const Tensor a = counting({2, 2});
  const Tensor b = counting({2, 1}) + 10;
  CHECK_THAT(cat({a, b}, 1), HasValues({{0, 1, 10}, {2, 3, 11}}));
  CHECK_THAT(cat({a, b}, -1), HasValues({{0, 1, 10}, {2, 3, 11}}));
  CHECK_THAT(cat({a, a.transpose(0, 1)}), HasValues({{0, 1}, {2, 3}, {0, 2}, {1, 3}}));
  CHECK_THAT(cat({a}), IsCloseTo(a));
  CHECK_THAT(cat({zeros({0, 2}, float64), a}), IsCloseTo(a));
  CHECK_THAT(cat({tensor({1, 2}, int64), tensor({3}, int64)}), IsCloseTo(tensor({1, 2, 3}, int64)));
  CHECK_FALSE(share_memory(cat({a}), a));
}

TEST_CASE("cat: its gradient is cut apart again") {
  const Tensor a = leaf({{1, 2}, {3, 4}});
  const Tensor constant = zeros({2, 1}, float64);
  const Tensor b = leaf({{5}, {6}});
  cat({a, constant, b}, 1).backward({.gradient = counting({2, 4})});
  CHECK_THAT(a.grad(), HasValues({{0, 1}, {4, 5}}));
  CHECK_THAT(b.grad(), HasValues({{3}, {7}}));
  const Tensor twice = leaf({1});
  cat({twice, twice}).backward({.gradient = tensor({3, 4}, float64)});
  CHECK_THAT(twice.grad(), HasValues({7}));
}

TEST_CASE("cat: what cannot be joined") {
  CHECK(error_text<ShapeError>([] {
          cat({zeros({2, 3}), zeros({2, 4})}, 0);
        }) == "cat: sizes differ on another axis than 0\n  got    first (2, 3), another (2, 4)");
  CHECK(error_text<ShapeError>([] {
          cat({zeros({2, 3}), zeros({3})}, 1);
        }) == "cat: sizes differ on another axis than 1\n  got    first (2, 3), another (3,)");
  CHECK(error_text<ValueError>([] { cat({}, 0); }) == "cat: needs at least one tensor");
  CHECK(error_text<ShapeError>([] {
          cat({tensor(1), tensor(2)});
        }) == "cat: tensors without axes cannot be joined");
  CHECK(error_text<ShapeError>([] { cat({zeros({2})}, 1); }) ==
        "cat: axis 1 is outside -1..0 (rank 1)");
  CHECK(error_text<DTypeError>([] {
          cat({zeros({2}), zeros({2}, int64)});
        }) ==
        "cat: float32 and int64 are not mixed silently\n"
        "  got    x (2,) float32, other (2,) int64\n"
        "  hint   other.to(float32)");
}

TEST_CASE("sum_to: undoes expand") {
  const Tensor x = counting({2, 2, 3});
  CHECK_THAT(sum_to(x, {3}), HasValues({0 + 3 + 6 + 9, 1 + 4 + 7 + 10, 2 + 5 + 8 + 11}));
  CHECK_THAT(sum_to(x, {2, 1}), HasValues({{0 + 1 + 2 + 6 + 7 + 8}, {3 + 4 + 5 + 9 + 10 + 11}}));
  CHECK_THAT(sum_to(x, {}), HasValues(66));
  CHECK_THAT(sum_to(x, {2, 2, 3}), IsCloseTo(x));
  CHECK_THAT(sum_to(zeros({0, 3}), {1, 3}), HasValues({{0, 0, 0}}));
}

// ---- stack, split, chunk, repeat, movedim, flip, triangles ----

TEST_CASE("stack: a new axis anywhere") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Tensor a = tensor({1, 0}, dtype);
  const Tensor b = tensor({1, 1}, dtype);
  CHECK_THAT(stack({a, b}), IsCloseTo(tensor({{1, 0}, {1, 1}}, dtype)));
  CHECK_THAT(stack({a, b}, 1), IsCloseTo(tensor({{1, 1}, {0, 1}}, dtype)));
  CHECK_THAT(stack({a, b, a}, -1), IsCloseTo(tensor({{1, 1, 1}, {0, 1, 0}}, dtype)));
  CHECK_THAT(stack({a}, -2), IsCloseTo(tensor({{1, 0}}, dtype)));
  CHECK_THAT(stack({a[0], b[1]}), IsCloseTo(tensor({1, 1}, dtype)));
  CHECK(stack({zeros({0, 3}), zeros({0, 3})}, 1).shape() == Shape{0, 2, 3});
}

TEST_CASE("stack: what does not fit") {
  CHECK(error_text<ValueError>([] { stack({}); }) == "stack: needs at least one tensor");
  CHECK(error_text<ShapeError>([] {
          stack({zeros({2}), zeros({3})});
        }) ==
        "stack: the shapes differ\n"
        "  got    first (2,), another (3,)\n"
        "  hint   cat() joins along an axis that is there");
  CHECK(error_text<ShapeError>([] { stack({zeros({2})}, 2); }) ==
        "stack: axis 2 is outside -2..1 (rank 2)");
  CHECK_THROWS_AS(stack({zeros({2}), zeros({2}, float64)}), DTypeError);
}

TEST_CASE("split and chunk: views, the last one shorter") {
  const Tensor x = arange(10).view({2, 5});
  const std::vector<Tensor> twos = split(x, 2, 1);
  REQUIRE(twos.size() == 3);
  CHECK_THAT(twos[0], HasValues({{0, 1}, {5, 6}}));
  CHECK_THAT(twos[2], HasValues({{4}, {9}}));
  CHECK(twos[1].data<Index>() == x.data<Index>() + 2);
  const std::vector<Tensor> given = split(x, {1, 0, 4}, -1);
  REQUIRE(given.size() == 3);
  CHECK(given[1].shape() == Shape{2, 0});
  CHECK_THAT(given[2], HasValues({{1, 2, 3, 4}, {6, 7, 8, 9}}));
  CHECK(split(x, 7).size() == 1);
  CHECK(split(zeros({0, 3}), 2).size() == 1);
  CHECK(split(zeros({0, 3}), std::vector<Index>{}).empty());

  const auto sizes = [](Index length, Index chunks) {
    std::vector<Index> result;
    for (const Tensor& piece : chunk(zeros({length}), chunks)) result.push_back(piece.size(0));
    return result;
  };
  CHECK(sizes(6, 3) == std::vector<Index>{2, 2, 2});
  CHECK(sizes(7, 3) == std::vector<Index>{3, 3, 1});
  CHECK(sizes(6, 4) == std::vector<Index>{2, 2, 2});  // fewer than asked for, as PyTorch
  CHECK(sizes(2, 5) == std::vector<Index>{1, 1});
  CHECK(sizes(5, 1) == std::vector<Index>{5});
}

TEST_CASE("split and chunk: what does not fit") {
  const Tensor x = zeros({3, 2});
  CHECK(error_text<ValueError>([&] { split(x, 0); }) == "split: needs a size of at least 1, not 0");
  CHECK(error_text<ValueError>([&] {
          split(x, {1, 1});
        }) == "split: the sizes add up to 2, not to 3\n  got    x (3, 2) float32, axis 0");
  CHECK(error_text<ValueError>([&] { split(x, {1, -1}); }) == "split: negative size -1");
  CHECK(error_text<ShapeError>([&] {
          split(x, {1, 1}, 2);
        }) == "split: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([] { split(tensor(1), std::vector<Index>{1}); }) ==
        "split: a tensor without axes cannot be split");
  CHECK_THROWS_AS(split(tensor(1), 1), ShapeError);
  CHECK_THROWS_AS(split(x, 1, 2), ShapeError);
  CHECK(error_text<ValueError>([&] { chunk(x, 0); }) == "chunk: needs at least 1 piece, not 0");
  CHECK_THROWS_AS(chunk(x, 2, 2), ShapeError);
}

TEST_CASE("repeat: end to end, with new axes in front") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Tensor x = tensor({{1, 0}}, dtype);
  CHECK_THAT(repeat(x, {2, 2}), IsCloseTo(tensor({{1, 0, 1, 0}, {1, 0, 1, 0}}, dtype)));
  CHECK_THAT(repeat(x, {2, 1, 1}), IsCloseTo(tensor({{{1, 0}}, {{1, 0}}}, dtype)));
  CHECK_THAT(repeat(tensor(1, dtype), {2}), IsCloseTo(tensor({1, 1}, dtype)));
  CHECK(repeat(x, {0, 2}).shape() == Shape{0, 4});
  CHECK(repeat(zeros({0, 2}, dtype), {3, 2}).shape() == Shape{0, 4});
  CHECK_THAT(repeat(tensor({{1, 0}, {0, 0}}, dtype).transpose(0, 1), {1, 2}),
             IsCloseTo(tensor({{1, 0, 1, 0}, {0, 0, 0, 0}}, dtype)));
  const Tensor same = repeat(x, {1, 1});
  CHECK_THAT(same, IsCloseTo(x));
  CHECK(same.raw() != x.raw());
}

TEST_CASE("repeat: gradients add up, and what does not fit") {
  const Tensor x = leaf({1, 2});
  repeat(x, {2, 2}).backward({.gradient = tensor({{1, 2, 3, 4}, {5, 6, 7, 8}}, float64)});
  CHECK_THAT(x.grad(), HasValues({16, 20}));
  CHECK(error_text<ShapeError>([] {
          repeat(zeros({2, 3}), {2});
        }) == "repeat: 1 repeats for 2 axes");
  CHECK(error_text<ShapeError>([] {
          repeat(zeros({2, 3}), {2, -1});
        }) == "repeat: negative count in (2, -1)");
}

TEST_CASE("movedim: the others keep their order") {
  const Tensor x = arange(24).view({2, 3, 4});
  CHECK(movedim(x, 0, 2).shape() == Shape{3, 4, 2});
  CHECK(movedim(x, 2, 0).shape() == Shape{4, 2, 3});
  CHECK(movedim(x, -1, 1).shape() == Shape{2, 4, 3});
  CHECK(movedim(x, 1, 1).shape() == x.shape());
  CHECK_THAT(movedim(x, 2, 0), IsCloseTo(x.permute({2, 0, 1})));
  CHECK(movedim(x, 0, 2).data<Index>() == x.data<Index>());
  CHECK_THAT(movedim(tensor(3), 0, -1), HasValues(3));
  CHECK(error_text<ShapeError>([&] { movedim(x, 3, 0); }) ==
        "movedim: axis 3 is outside -3..2 (rank 3)");
  CHECK(error_text<ShapeError>([&] { movedim(x, 0, -4); }) ==
        "movedim: axis -4 is outside -3..2 (rank 3)");
}

TEST_CASE("flip: reverses axes, in a copy") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Tensor x = tensor({{1, 0}, {1, 1}}, dtype);
  CHECK_THAT(flip(x, {0}), IsCloseTo(tensor({{1, 1}, {1, 0}}, dtype)));
  CHECK_THAT(flip(x, {-1}), IsCloseTo(tensor({{0, 1}, {1, 1}}, dtype)));
  CHECK_THAT(flip(x, {1, 0}), IsCloseTo(tensor({{1, 1}, {0, 1}}, dtype)));
  CHECK_THAT(flip(x, {}), IsCloseTo(x));
  CHECK(flip(x, {}).raw() != x.raw());
  CHECK_THAT(flip(tensor(1, dtype), {0}), IsCloseTo(tensor(1, dtype)));
  CHECK(flip(zeros({0, 3}, dtype), {0, 1}).shape() == Shape{0, 3});
  CHECK(error_text<ShapeError>([&] { flip(x, {2}); }) == "flip: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([&] {
          flip(x, {0, -2});
        }) == "flip: axis 0 is named twice\n  got    axes (0, -2), rank 2");
}

TEST_CASE("tril and triu: of the last two axes") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Tensor x = ones({3, 4}, dtype);
  CHECK_THAT(tril(x), HasValues({{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}}));
  CHECK_THAT(tril(x, 1), HasValues({{1, 1, 0, 0}, {1, 1, 1, 0}, {1, 1, 1, 1}}));
  CHECK_THAT(tril(x, -1), HasValues({{0, 0, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}}));
  CHECK_THAT(triu(x), HasValues({{1, 1, 1, 1}, {0, 1, 1, 1}, {0, 0, 1, 1}}));
  CHECK_THAT(triu(x, 2), HasValues({{0, 0, 1, 1}, {0, 0, 0, 1}, {0, 0, 0, 0}}));
  CHECK_THAT(triu(x, -9), IsCloseTo(x));
  CHECK_THAT(tril(x, -9), IsCloseTo(zeros({3, 4}, dtype)));
  CHECK_THAT(tril(ones({2, 2, 2}, dtype)), HasValues({{{1, 0}, {1, 1}}, {{1, 0}, {1, 1}}}));
  CHECK(tril(zeros({2, 0}, dtype)).shape() == Shape{2, 0});
  CHECK(tril(x).dtype() == dtype);
}

TEST_CASE("tril and triu: NaN is cut off, not multiplied by 0") {
  CHECK_THAT(tril(full({2, 2}, kNaN, float64)), HasValues({{kNaN, 0}, {kNaN, kNaN}}));
  CHECK_THAT(triu(full({2, 2}, kInf, float64), 1), HasValues({{0, kInf}, {0, 0}}));
  CHECK(error_text<ShapeError>([] { tril(zeros({2})); }) ==
        "tril: needs at least two axes, x has 1");
  CHECK(error_text<ShapeError>([] { triu(tensor(1)); }) ==
        "triu: needs at least two axes, x has 0");
}

// However many rows of nothing there are, no kernel may count them.
TEST_CASE("flip: an empty tensor with a huge axis takes no time") {
  const Tensor x = zeros({Index{1} << 40, 1, 0});
  CHECK(flip(x, {1}).shape() == x.shape());
  CHECK(cumsum(x, 1).shape() == x.shape());
}

TEST_CASE("views of an empty tensor: no offset or stride overflows") {
  constexpr Index huge = Index{1} << 59;
  const Tensor x = zeros({2, 3}, float64);
  const Tensor far = x.as_strided({0}, {1}, 2 * huge);
  CHECK(far.data<double>() == x.data<double>());
  CHECK_THAT((far + far).sum(), HasValues(0));
  const Tensor wide = x.as_strided({0, huge}, {huge, huge});
  CHECK(wide.unsqueeze(1).shape() == Shape{0, 1, huge});
  CHECK(wide.select(1, huge - 1).data<double>() == x.data<double>());
  CHECK(zeros({0, huge}).select(1, huge - 1).shape() == Shape{0});
}

TEST_CASE("as_strided: any geometry over the same memory") {
  const Tensor x = counting({2, 6});
  CHECK_THAT(x.as_strided({2, 2}, {6, 2}), HasValues({{0, 2}, {6, 8}}));
  CHECK_THAT(x.as_strided({3}, {3}, 2), HasValues({2, 5, 8}));
  CHECK_THAT(x[1].as_strided({2, 2}, {2, 1}), HasValues({{6, 7}, {8, 9}}));  // from its own first
  CHECK_THAT(x[1].as_strided({2}, {1}, 1), HasValues({1, 2}));               // and in its memory
  CHECK_THAT(x.transpose(0, 1).as_strided({2, 2}, {1, 6}), HasValues({{0, 6}, {1, 7}}));
  CHECK_THAT(x.as_strided({2, 3}, {0, 1}, 3), HasValues({{3, 4, 5}, {3, 4, 5}}));
  CHECK_THAT(x.as_strided({}, {}, 11), HasValues(11));
  CHECK_THAT(x.as_strided({1}, {1000}, 11), HasValues({11}));  // a stride that is never taken
  CHECK(x.as_strided({0, 5}, {100, 1}, 12).shape() == Shape{0, 5});
  CHECK(share_memory(x, x.as_strided({2}, {1})));
  CHECK_THAT(tensor({1, 0, 1}, boolean).as_strided({2, 2}, {1, 1}), HasValues({{1, 0}, {0, 1}}));
  const Index huge = std::numeric_limits<Index>::max();
  CHECK_THROWS_AS(x.as_strided({1}, {1}, 12), ValueError);
  CHECK_THROWS_AS(x.as_strided({1}, {1}, -1), ValueError);
  CHECK_THROWS_AS(x.as_strided({1}, {1}, std::numeric_limits<Index>::min()), ValueError);
  CHECK_THROWS_AS(x.as_strided({1}, {1}, std::numeric_limits<Index>::max()), ValueError);
  CHECK_THROWS_AS(x.as_strided({2}, {-1}, 5), ValueError);
  CHECK_THROWS_AS(x.as_strided({2}, {huge}), ValueError);
  CHECK_THROWS_AS(x.as_strided({1}, {1}, huge), ValueError);
  CHECK_THROWS_AS(x.as_strided({3, 3}, {huge / 2, huge / 2}), ValueError);
  CHECK_THROWS_AS(x.as_strided({2}, {1}, 11), ValueError);
}

// Three elements overlap in the middle, and each place gets what all of them are owed.
TEST_CASE("as_strided: gradients of elements in one place add up") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = leaf({1, 2, 3, 4, 5}, dtype);
  const Tensor y = x.as_strided({3, 3}, {1, 1});
  CHECK_THAT(y, HasValues({{1, 2, 3}, {2, 3, 4}, {3, 4, 5}}));
  y.sum().backward();
  CHECK_THAT(x.grad(), HasValues({1, 2, 3, 2, 1}, exactly));

  const Tensor table = leaf({{1, 2, 3}, {4, 5, 6}}, dtype);
  const Tensor turned = table.transpose(0, 1);  // not contiguous: memory is 1 2 3 4 5 6
  turned.as_strided({2, 3}, {1, 1}, 1)
      .backward({.gradient = tensor({{1, 2, 3}, {4, 5, 6}}, dtype)});
  CHECK_THAT(table.grad(), HasValues({{0, 1, 6}, {8, 6, 0}}, exactly));
  table.zero_grad();
  table[1].as_strided({2}, {3}, 1).backward({.gradient = tensor({7, 8}, dtype)});
  CHECK_THAT(table.grad(), HasValues({{0, 0, 0}, {0, 8, 0}}, exactly));  // of row 1 alone
  table.zero_grad();
  table.as_strided({2, 2}, {0, 1}).sum().backward();
  CHECK_THAT(table.grad(), HasValues({{2, 2, 0}, {0, 0, 0}}, exactly));
}

TEST_CASE("expand: the gradient of a repeated axis, in any place and dtype") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = leaf({1, 2}, dtype);
  x.expand({3, 2}).sum().backward();
  CHECK_THAT(x.grad(), HasValues({3, 3}, exactly));
  const Tensor column = leaf({{1}, {2}}, dtype);
  column.expand({4, 2, 3}).transpose(0, 2).sum().backward();
  CHECK_THAT(column.grad(), HasValues({{12}, {12}}, exactly));
  const Tensor one = leaf(1, dtype);
  one.expand({2, 0}).sum().backward();
  CHECK_THAT(one.grad(), HasValues(0, exactly));
}
