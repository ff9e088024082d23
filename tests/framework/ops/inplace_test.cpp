// Tensor's changes in place: copy_, fill_, zero_, add_, mul_, masked_fill_.
#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/join.h"
#include "framework/ops/matmul.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("in place: values") {
  const DType dtype = GENERATE(float32, float64, int64);
  Tensor x = tensor({{1, 2}, {3, 4}}, dtype);
  CHECK_THAT(x.add_(tensor({10, 20}, dtype)), HasValues({{11, 22}, {13, 24}}));
  CHECK_THAT(x.add_(tensor({{1}, {2}}, dtype), -3), HasValues({{8, 19}, {7, 18}}));
  CHECK_THAT(x.mul_(tensor(2, dtype)), HasValues({{16, 38}, {14, 36}}));
  CHECK_THAT(x.mul_(-1), HasValues({{-16, -38}, {-14, -36}}));
  CHECK_THAT(x.masked_fill_(tensor({{0, 1}, {0, 0}}, boolean), 5),
             HasValues({{-16, 5}, {-14, -36}}));
  CHECK_THAT(x.copy_(tensor({1, 2}, dtype)), HasValues({{1, 2}, {1, 2}}));
  CHECK_THAT(x.fill_(7), HasValues({{7, 7}, {7, 7}}));
  CHECK_THAT(x.zero_(), HasValues({{0, 0}, {0, 0}}));
  CHECK(&x.zero_() == &x);
}

TEST_CASE("in place: through views, without touching the rest") {
  Tensor x = arange(12, float64).view({3, 4});
  Tensor corner = x.slice(0, 1).slice(1, 0, 4, 2);
  corner.mul_(10);
  CHECK_THAT(x, HasValues({{0, 1, 2, 3}, {40, 5, 60, 7}, {80, 9, 100, 11}}));
  Tensor column = x.transpose(0, 1)[3];
  column.copy_(tensor({-1, -2, -3}, float64));
  CHECK_THAT(x, HasValues({{0, 1, 2, -1}, {40, 5, 60, -2}, {80, 9, 100, -3}}));
}

TEST_CASE("in place: copy_ converts") {
  Tensor x = zeros({2}, int64);
  CHECK_THAT(x.copy_(tensor({1.75, -1.75})), IsCloseTo(tensor({1, -1}, int64)));
  Tensor mask = zeros({2}, boolean);
  CHECK_THAT(mask.copy_(tensor({0, 0.5})), HasValues({0, 1}));
}

// C055: several elements in one place would make the result depend on the order of the loop.
TEST_CASE("in place: a tensor whose elements share memory") {
  Tensor x = zeros({1}).expand({3});
  CHECK(error_text<ValueError>([&] {
          x.add_(tensor({1, 2, 3}));
        }) ==
        "add_: several elements of x share memory\n"
        "  got    x (3,) float32 with strides (0,)\n"
        "  hint   contiguous() makes a copy that can be changed");
  CHECK_THROWS_AS(x.mul_(2), ValueError);
  CHECK_THROWS_AS(x.fill_(2), ValueError);
  CHECK_THROWS_AS(x.zero_(), ValueError);
  CHECK_THROWS_AS(x.copy_(ones({3})), ValueError);
  CHECK_THROWS_AS(x.masked_fill_(ones({3}, boolean), 1), ValueError);
  Tensor one = zeros({1}).expand({1, 1});
  CHECK_NOTHROW(one.fill_(2));
}

TEST_CASE("in place: a source that overlaps is taken as it was before") {
  Tensor x = ones({4});
  Tensor tail = x.slice(0, 1);
  tail.add_(x.slice(0, 0, 3));
  CHECK_THAT(x, HasValues({1, 2, 2, 2}));
  Tensor y = arange(5, float64);
  y.slice(0, 1).copy_(y.slice(0, 0, 4));
  CHECK_THAT(y, HasValues({0, 0, 1, 2, 3}));
  Tensor z = arange(1, 4, 1, float64);
  z.mul_(z[2]);
  CHECK_THAT(z, HasValues({3, 6, 9}));
  z.add_(z);
  CHECK_THAT(z, HasValues({6, 12, 18}));
  z.mul_(z);
  CHECK_THAT(z, HasValues({36, 144, 324}));
}

// C060: transposing into oneself, and a product into its own operand.
TEST_CASE("in place: the result and an operand in one memory") {
  Tensor a = tensor({{1, 2}, {3, 4}}, float64);
  a.copy_(a.transpose(0, 1));
  CHECK_THAT(a, HasValues({{1, 3}, {2, 4}}));
  a.add_(a.transpose(0, 1));
  CHECK_THAT(a, HasValues({{2, 5}, {5, 8}}));
  Tensor c = tensor({{1, 2}, {3, 4}}, float64);
  c.copy_(matmul(c, c));
  CHECK_THAT(c, HasValues({{7, 10}, {15, 22}}));
}

// C070: a tensor on the tape, a leaf or a view of one, is not changed behind the tape's back.
TEST_CASE("in place: refused on the tape, allowed under NoGrad") {
  Tensor x = leaf({1, 2});
  CHECK(error_text<AutogradError>([&] { x.add_(ones({2}, float64)); }) ==
        "add_: a tensor on the tape cannot be changed in place\n"
        "  got    x (2,) float64, a leaf\n"
        "  hint   NoGrad no_grad; for an update of a parameter, or the op without its underscore");
  Tensor part = (x * 1).slice(0, 0, 1);
  CHECK(error_text<AutogradError>([&] { part.mul_(10); }) ==
        "mul_: a tensor on the tape cannot be changed in place\n"
        "  got    x (1,) float64\n"
        "  hint   NoGrad no_grad; for an update of a parameter, or the op without its underscore");
  CHECK_THROWS_AS(x.slice(0, 0, 1).zero_(), AutogradError);
  CHECK_THROWS_AS(x.fill_(1), AutogradError);
  CHECK_THROWS_AS(x.copy_(ones({2}, float64)), AutogradError);
  CHECK_THROWS_AS(x.masked_fill_(ones({2}, boolean), 0), AutogradError);
  CHECK_THAT(x, HasValues({1, 2}, exactly));
  {
    const NoGrad no_grad;
    x.add_(ones({2}, float64));
  }
  CHECK_THAT(x, HasValues({2, 3}));
  CHECK(x.is_leaf());
  CHECK(x.requires_grad());
}

// Off the tape an in-place op has no gradient to give: what wants one must not be lost silently.
TEST_CASE("in place: an operand that wants a gradient is refused, too") {
  const Tensor weight = leaf({1, 2});
  Tensor sum = zeros({2}, float64);
  CHECK(error_text<AutogradError>([&] { sum.add_(weight); }) ==
        "add_: the change would lose the gradient of the other operand\n"
        "  got    other (2,) float64, requires a gradient\n"
        "  hint   NoGrad no_grad; or other.detach(), or the op without its underscore");
  CHECK_THROWS_AS(sum.mul_(weight), AutogradError);
  CHECK_THROWS_AS(sum.copy_(weight), AutogradError);
  const NoGrad no_grad;
  CHECK_NOTHROW(sum.copy_(weight));
}

TEST_CASE("in place: counts changes, by name") {
  Tensor x = zeros({2});
  const Storage& storage = *x.impl().storage;
  const std::uint32_t before = storage.version();
  x.add_(ones({2}));
  CHECK(storage.version() == before + 1);
  CHECK(std::string(storage.changed_by()) == "add_");
  x.slice(0, 0, 1).fill_(3);
  CHECK(storage.version() == before + 2);
  CHECK(std::string(storage.changed_by()) == "fill_");
  x.mutable_data<float>()[0] = 1;
  CHECK(storage.version() == before + 3);
  CHECK(std::string(storage.changed_by()) == "mutable_data");
  CHECK(x.data<float>()[0] == 1);
  CHECK(storage.version() == before + 3);
}

TEST_CASE("in place: what does not fit") {
  Tensor x = zeros({2, 3});
  CHECK(error_text<ShapeError>([&] {
          x.add_(zeros({4, 2, 3}));
        }) == "add_: the other operand is larger than x\n  got    x (2, 3), other (4, 2, 3)");
  CHECK(error_text<ShapeError>([&] { x.copy_(zeros({2})); }) ==
        "copy_: shapes do not broadcast (3 vs 2 on axis 1)\n"
        "  got    x (2, 3), other (2,)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
  Tensor row = zeros({1, 3});
  CHECK_THROWS_AS(row.mul_(zeros({2, 3})), ShapeError);
  CHECK(error_text<DTypeError>([&] { x.mul_(zeros({3}, float64)); }) ==
        "mul_: float32 and float64 are not mixed silently\n"
        "  got    x (2, 3) float32, other (3,) float64\n"
        "  hint   other.to(float32), or model.to(float64) for gradient checks");
  CHECK(error_text<DTypeError>([&] { x.masked_fill_(zeros({3}), 1); }) ==
        "masked_fill_: mask must be bool, not float32\n"
        "  got    mask (3,) float32\n"
        "  hint   mask.to(boolean)");
  Tensor mask = zeros({2}, boolean);
  CHECK_THROWS_AS(mask.add_(mask), DTypeError);
  CHECK_THROWS_AS(mask.mul_(mask), DTypeError);
}

// As for x * 0.5, there is no silent rounding to what an integer tensor can hold.
TEST_CASE("in place: numbers that an integer tensor cannot hold") {
  Tensor x = tensor({1, 2}, int64);
  CHECK_THROWS_AS(x.mul_(0.5), DTypeError);
  CHECK_THROWS_AS(x.fill_(0.5), DTypeError);
  CHECK_THROWS_AS(x.fill_(kNaN), DTypeError);
  CHECK_THROWS_AS(x.add_(x, 0.5), DTypeError);
  CHECK_THROWS_AS(x.masked_fill_(ones({2}, boolean), kInf), DTypeError);
  CHECK_THROWS_AS(full({2}, 0.5, int64), DTypeError);
}

TEST_CASE("in place: empty tensors") {
  Tensor x = zeros({0, 3});
  CHECK_NOTHROW(x.fill_(1));
  CHECK_NOTHROW(x.add_(zeros({3})));
  CHECK_NOTHROW(x.mul_(2));
  CHECK_NOTHROW(x.copy_(zeros({1, 3})));
  CHECK_NOTHROW(x.masked_fill_(zeros({3}, boolean), 1));
}

TEST_CASE("in place: elements that share memory without a stride of 0") {
  const Tensor memory = zeros({9}, float64);
  const auto is_refused = [&](const Shape& shape, const Strides& strides) {
    Tensor x = memory.as_strided(shape, strides);
    const std::string text = error_text<ValueError>([&] { x.fill_(1); });
    if (text == "no error") return false;
    CHECK(text == gradus::text("fill_: several elements of x share memory\n  got    x ", shape,
                               " float64 with strides ", strides,
                               "\n  hint   contiguous() makes a copy that can be changed"));
    return true;
  };
  CHECK(is_refused({3, 3}, {1, 1}));
  CHECK(is_refused({3, 3}, {2, 1}));
  CHECK(is_refused({2, 2, 2}, {3, 2, 1}));
  CHECK(is_refused({3, 2}, {2, 4}));
  CHECK_FALSE(is_refused({3, 3}, {3, 1}));
  CHECK_FALSE(is_refused({3, 3}, {1, 3}));
  CHECK_FALSE(is_refused({2, 2}, {2, 3}));  // 0 2 3 5: interleaved, and still apart
  CHECK_FALSE(is_refused({1, 3}, {0, 2}));
  CHECK_FALSE(is_refused({0, 3}, {1, 0}));
  CHECK_FALSE(is_refused({}, {}));

  Tensor windows = memory.as_strided({3, 3}, {1, 1});
  CHECK_THROWS_AS(windows.add_(ones({3, 3}, float64)), ValueError);
  CHECK_THROWS_AS(windows.mul_(2), ValueError);
  CHECK_THROWS_AS(windows.copy_(ones({3, 3}, float64)), ValueError);
  CHECK_THROWS_AS(windows.masked_fill_(ones({3, 3}, boolean), 1), ValueError);
}

TEST_CASE("in place: an overlapping source, in every op, dtype and size") {
  const DType dtype = GENERATE(float32, float64, int64);
  Tensor shifted = ones({4}, dtype);
  shifted.slice(0, 1).add_(shifted.slice(0, 0, 3));
  CHECK_THAT(shifted, HasValues({1, 2, 2, 2}, exactly));
  Tensor product = full({4}, 2, dtype);
  product.slice(0, 1).mul_(product.slice(0, 0, 3));
  CHECK_THAT(product, HasValues({2, 4, 4, 4}, exactly));
  Tensor by_windows = arange(1, 4, 1, dtype);
  by_windows.add_(by_windows.as_strided({3}, {0}, 2));
  CHECK_THAT(by_windows, HasValues({4, 5, 6}, exactly));
  Tensor flags = tensor({1, 0, 0, 1}, boolean);
  flags.slice(0, 1).masked_fill_(flags.slice(0, 0, 3), 1);
  CHECK_THAT(flags, HasValues({1, 1, 0, 1}, exactly));

  constexpr Index size = 300;  // in many chunks
  Tensor a = arange(size * size, dtype).view({size, size});
  const Tensor want = a.transpose(0, 1).clone();
  a.copy_(a.transpose(0, 1));
  CHECK_THAT(a, IsCloseTo(want, exactly));
  a.add_(a.transpose(0, 1));
  CHECK_THAT(a, IsCloseTo(want + want.transpose(0, 1), exactly));
}

TEST_CASE("in place: a product into its own operand, whatever the size") {
  for (const Index size : {1, 2, 65, 130}) {
    Tensor c = random_normal({size, size}, 1);
    const Tensor want = matmul(c.clone(), c.clone());
    c.copy_(matmul(c, c));
    CHECK_THAT(c, IsCloseTo(want, exactly));
    const Tensor more = c + matmul(c, c.transpose(0, 1));
    c.add_(matmul(c, c.transpose(0, 1)));
    CHECK_THAT(c, IsCloseTo(more, exactly));
  }
}

// What a recorded change would have been is written without it, and has the right gradient.
TEST_CASE("in place: the functional form has the gradient that a change of a view would lose") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = leaf({1, 2}, dtype);
  {
    const Tensor y = x * 1;
    Tensor part = y.slice(0, 0, 1);
    CHECK(error_text<AutogradError>([&] { part.mul_(10); })
              .ends_with("hint   NoGrad no_grad; for an update of a parameter, or the op without "
                         "its underscore"));
    CHECK_THAT(y, HasValues({1, 2}, exactly));
    const Tensor changed = cat({part * 10, y.slice(0, 1)});
    CHECK_THAT(changed, HasValues({10, 2}, exactly));
    changed.sum().backward();
    CHECK_THAT(x.grad(), HasValues({10, 1}, exactly));
  }
  CHECK(x.impl().node->ref_count() == 1);  // all of it is freed
  CHECK(x.impl().storage->ref_count() == 1);

  Tensor views[] = {x,
                    x.slice(0, 0, 1),
                    x[0],
                    x.view({2, 1}),
                    x.unsqueeze(0),
                    x.expand({1, 2}),
                    x.transpose(0, 0),
                    x.as_strided({1}, {1}, 1),
                    x * 1,
                    x.clone()};
  for (Tensor& view : views) {
    INFO(view);
    CHECK_THROWS_AS(view.mul_(2), AutogradError);
    CHECK_THROWS_AS(view.add_(view), AutogradError);
    CHECK_THROWS_AS(view.zero_(), AutogradError);
    CHECK_THROWS_AS(view.masked_fill_(ones(view.shape(), boolean), 0), AutogradError);
    CHECK_THROWS_AS(view.copy_(view.detach()), AutogradError);
  }
  CHECK_THAT(x, HasValues({1, 2}, exactly));
}
