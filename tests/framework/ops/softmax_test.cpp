#include "framework/ops/softmax.h"

#include <cmath>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/finite.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// A row in which every vector width has a body and a tail, laid along the last or the first axis.
Tensor laid(const Tensor& row, bool along_last) {
  return along_last ? row.expand({2, row.size(0)}).contiguous()
                    : row.unsqueeze(1).expand({row.size(0), 2}).contiguous();
}

}  // namespace

TEST_CASE("softmax: values along any axis") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{0, 1, 2}, {2, 2, 2}}, dtype);
  CHECK_THAT(softmax(x, 1),
             HasValues({{0.09003057317038046, 0.24472847105479767, 0.6652409557748219},
                        {1. / 3, 1. / 3, 1. / 3}}));
  CHECK_THAT(softmax(x, -1), IsCloseTo(softmax(x, 1), exactly));
  CHECK_THAT(softmax(x, 0), HasValues({{0.11920292202211755, 0.2689414213699951, 0.5},
                                       {0.8807970779778823, 0.7310585786300049, 0.5}}));
  CHECK_THAT(softmax(x.transpose(0, 1), 0), IsCloseTo(softmax(x, 1).transpose(0, 1)));
  CHECK_THAT(softmax(tensor(3, dtype), 0), HasValues(1));
  CHECK_THAT(log_softmax(x, 1), IsCloseTo(log(softmax(x, 1))));
  CHECK_THAT(log_softmax(x, 0), IsCloseTo(log(softmax(x, 0))));
  CHECK_THAT(log_softmax(tensor(3, dtype), -1), HasValues(0));
}

// C030: the largest is taken away first, and backward has only the output to go by.
TEST_CASE("softmax: large numbers neither overflow nor spoil the gradient") {
  const Tensor x = tensor({1000, 1001, 1002}, float32).requires_grad_();
  const Tensor y = softmax(x, 0);
  CHECK_THAT(y, HasValues({0.09003057, 0.24472847, 0.66524096}));
  (y * tensor({1, 0, 0})).sum().backward();
  const double p = 0.09003057317038046;
  CHECK_THAT(x.grad(), HasValues({p * (1 - p), -p * 0.24472847105479767, -p * 0.6652409557748219}));

  const std::vector<float> spread = softmax(tensor({90, 2, -2}, float32), 0).to_vector<float>();
  CHECK(spread[0] == 1.0F);
  CHECK(spread[1] == Catch::Approx(6.0546e-39).epsilon(1e-3).margin(1e-44));
  CHECK(spread[2] == Catch::Approx(1.1089e-40).epsilon(1e-2).margin(1e-44));
  CHECK_THAT(log_softmax(tensor({1000, 1001, 1002}, float32), 0),
             HasValues({-2.4076059, -1.4076059, -0.4076059}));
  CHECK_THAT(log_softmax(tensor({90, 2, -2}, float32), 0), HasValues({0, -88, -92}));
}

// C031: one policy for every length, axis and dtype.
TEST_CASE("softmax: infinities and NaN, for every length of row") {
  const DType dtype = GENERATE(float32, float64);
  const bool along_last = GENERATE(true, false);
  const Index axis = along_last ? -1 : 0;
  for (const Index length : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 127, 128, 129}) {
    INFO("length " << length << ", " << dtype << ", axis " << axis);
    const Tensor hidden = full({length}, -kInf, dtype);
    const Tensor nan_row = laid(full({length}, kNaN, dtype), along_last);
    const Tensor zero_row = laid(zeros({length}, dtype), along_last);
    const auto with = [&](Index place, double value, const Tensor& row) {
      Tensor changed = row.clone();
      changed.slice(0, place, place + 1).fill_(value);
      return laid(changed, along_last);
    };
    CHECK_THAT(softmax(laid(hidden, along_last), axis), IsCloseTo(nan_row));
    CHECK_THAT(softmax(laid(hidden, along_last), axis, WhenAllHidden::zero), IsCloseTo(zero_row));
    CHECK_THAT(log_softmax(laid(hidden, along_last), axis), IsCloseTo(nan_row));
    const Tensor finite = random_normal({length}, 3, dtype);
    for (const Index place : {Index{0}, length / 2, length - 1}) {
      for (const WhenAllHidden policy : {WhenAllHidden::nan, WhenAllHidden::zero}) {
        CHECK_THAT(softmax(with(place, kInf, finite), axis, policy), IsCloseTo(nan_row));
        CHECK_THAT(softmax(with(place, kNaN, finite), axis, policy), IsCloseTo(nan_row));
        CHECK_THAT(softmax(with(place, kNaN, hidden), axis, policy), IsCloseTo(nan_row));
        // One that is seen takes it all.
        CHECK_THAT(softmax(with(place, -3, hidden), axis, policy),
                   IsCloseTo(with(place, 1, zeros({length}, dtype)), exactly));
      }
      CHECK_THAT(log_softmax(with(place, kInf, finite), axis), IsCloseTo(nan_row));
      CHECK_THAT(log_softmax(with(place, kNaN, finite), axis), IsCloseTo(nan_row));
      if (length > 1) {
        const Tensor y = softmax(with(place, -kInf, finite), axis);
        CHECK_THAT(y.select(axis, place), IsCloseTo(zeros({2}, dtype), exactly));
        CHECK_THAT(sum(y, {axis}), IsCloseTo(ones({2}, dtype)));
      }
    }
  }
}

TEST_CASE("softmax: every length agrees with the definition") {
  const DType dtype = GENERATE(float32, float64);
  for (Index length = 1; length <= 70; ++length) {
    const Tensor x = random_normal({3, length, 2}, static_cast<std::uint64_t>(length), dtype);
    const Tensor e = exp(x.to(float64));
    const Tensor want = e / sum(e, {1}, true);
    INFO("length " << length);
    CHECK_THAT(softmax(x, 1), IsCloseTo(want.to(dtype)));
    CHECK_THAT(log_softmax(x, 1), IsCloseTo(log(want).to(dtype)));
    const Tensor packed = x.transpose(1, 2).contiguous();
    CHECK_THAT(softmax(packed, 2), IsCloseTo(want.to(dtype).transpose(1, 2)));
    CHECK_THAT(log_softmax(packed, 2), IsCloseTo(log(want).to(dtype).transpose(1, 2)));
  }
}

TEST_CASE("softmax: where all is hidden and zero is wanted, gradients are zero, too") {
  const Tensor x = tensor({{-kInf, -kInf, -kInf}, {0, -kInf, 0}}, float64).requires_grad_();
  const Tensor y = softmax(x, 1, WhenAllHidden::zero);
  CHECK_THAT(y, HasValues({{0, 0, 0}, {0.5, 0, 0.5}}));
  const Tensor first = gradients(
      {y}, {x},
      {.grad_outputs = {tensor({{1, 2, 3}, {1, 2, 5}}, float64)}, .create_graph = true})[0];
  CHECK_THAT(first, HasValues({{0, 0, 0}, {-1, 0, 1}}));
  const Tensor second = gradients({(first * first).sum()}, {x})[0];
  CHECK_THAT(second[0], HasValues({0, 0, 0}));
  CHECK_FALSE(any(ne(second, second)));  // no NaN
}

// C028: a mask of -inf before the softmax leaves no NaN behind.
TEST_CASE("softmax: after masked_fill with -inf") {
  const Tensor x = random_normal({2, 4}, 5).requires_grad_();
  const Tensor mask = tensor({{0, 1, 0, 1}, {0, 0, 0, 1}}, boolean);
  const Tensor y = softmax(masked_fill(x, mask, -kInf), 1);
  (y * random_normal({2, 4}, 6)).sum().backward();
  CHECK_FALSE(any(ne(x.grad(), x.grad())));
  CHECK_THAT(masked_fill(x.grad(), logical_not(mask), 0.0),
             IsCloseTo(zeros({2, 4}, float64), exactly));
  CHECK_THAT(sum(x.grad(), {1}), HasValues({0, 0}));
}

// C034: nothing to do is not a reason to crash.
TEST_CASE("softmax: sizes of 0") {
  for (const Shape& shape : {Shape{2, 0}, Shape{0, 3}, Shape{0}}) {
    const Tensor x = zeros(shape, float64).requires_grad_();
    const Tensor y = softmax(x, -1);
    CHECK(y.shape() == shape);
    CHECK(log_softmax(x, -1).shape() == shape);
    y.sum().backward();
    CHECK(x.grad().shape() == shape);
  }
}

TEST_CASE("softmax: gradients") {
  const Tensor x = leaf({{1, 2, 3}, {0, 0, 0}});
  const Tensor g = tensor({{1, 0, 0}, {3, 0, 0}}, float64);
  softmax(x, 1).backward({.gradient = g});
  const double a = 0.09003057317038046;
  CHECK_THAT(x.grad(), HasValues({{a * (1 - a), -a * 0.24472847105479767, -a * 0.6652409557748219},
                                  {2. / 3, -1. / 3, -1. / 3}}));
  x.zero_grad();
  log_softmax(x, 1).backward({.gradient = g});
  CHECK_THAT(x.grad(),
             HasValues({{1 - a, -0.24472847105479767, -0.6652409557748219}, {2, -1, -1}}));
  // The sum of a softmax is 1 whatever x is.
  x.zero_grad();
  softmax(x, 1).sum().backward();
  CHECK_THAT(x.grad(), HasValues({{0, 0, 0}, {0, 0, 0}}));
}

TEST_CASE("softmax: log_softmax has a finite gradient where the input is -inf") {
  const Tensor x = leaf({0, -kInf});
  log_softmax(x, 0).backward({.gradient = tensor({0, 1}, float64)});
  CHECK_THAT(x.grad(), HasValues({-1, 1}));
}

TEST_CASE("softmax: what it does not take") {
  CHECK(
      error_text<DTypeError>([] { softmax(zeros({2}, int64), 0); }) ==
      "softmax: needs a floating tensor, not int64\n  got    x (2,) int64\n  hint   x.to(float32)");
  CHECK(error_text<DTypeError>([] { log_softmax(zeros({2}, boolean), 0); }) ==
        "log_softmax: needs a floating tensor, not bool\n  got    x (2,) bool\n  hint   "
        "x.to(float32)");
  CHECK(error_text<ShapeError>([] {
          softmax(zeros({2, 3}), 2);
        }) == "softmax: axis 2 is outside -2..1 (rank 2)");
  CHECK(error_text<ShapeError>([] { log_softmax(zeros({}), 1); }) ==
        "log_softmax: axis 1 is outside -1..0 (rank 0)");
}

TEST_CASE("softmax: infinities and NaN, in rows with gaps in memory") {
  const DType dtype = GENERATE(float32, float64);
  for (const Index length : {1, 3, 7, 8, 9, 127, 128, 129}) {
    INFO("length " << length << ", " << dtype);
    const auto with_gaps = [&](double value, double of_first) {
      Tensor wide = full({2, 2 * length}, 0.5, dtype);
      const Tensor row = wide.slice(1, 1, std::nullopt, 2);
      row.slice(1, 0).fill_(value);
      row.slice(1, 0, 1).fill_(of_first);
      return row;
    };
    const Tensor nan_row = full({2, length}, kNaN, dtype);
    Tensor first_only = zeros({2, length}, dtype);
    first_only.slice(1, 0, 1).fill_(1);
    CHECK_THAT(softmax(with_gaps(-kInf, -kInf), 1), IsCloseTo(nan_row));
    CHECK_THAT(softmax(with_gaps(-kInf, -kInf), 1, WhenAllHidden::zero),
               IsCloseTo(zeros({2, length}, dtype), exactly));
    CHECK_THAT(softmax(with_gaps(-kInf, 3), 1), IsCloseTo(first_only, exactly));
    CHECK_THAT(softmax(with_gaps(0, kInf), 1), IsCloseTo(nan_row));
    CHECK_THAT(softmax(with_gaps(0, kNaN), 1), IsCloseTo(nan_row));
    CHECK_THAT(softmax(with_gaps(-kInf, 3).transpose(0, 1), 0),
               IsCloseTo(first_only.transpose(0, 1), exactly));
    const Tensor logs = log_softmax(with_gaps(-kInf, 3), 1);
    CHECK_THAT(logs.select(1, 0), HasValues({0, 0}, exactly));
    CHECK_THAT(logs.slice(1, 1), IsCloseTo(full({2, length - 1}, -kInf, dtype)));
  }
}

// A plain float32 sum of exponentials drifts by a thousandth over two million of them.
TEST_CASE("softmax: float32 rows of any length keep their digits") {
  for (const Index length : {1000, 20000, 200000, 2000000}) {
    INFO("length " << length);
    Tensor x = full({length}, -2.302585, float32);
    x.slice(0, 0, 1).fill_(0);
    const Tensor as_column = x.unsqueeze(1);
    const Tensor want = softmax(x.to(float64), 0);
    CHECK_THAT(softmax(x, 0).slice(0, 0, 3).to(float64),
               IsCloseTo(want.slice(0, 0, 3), Tolerance{1e-6, 0}));
    CHECK_THAT(softmax(as_column, 0).slice(0, 0, 3).to(float64),
               IsCloseTo(want.slice(0, 0, 3).unsqueeze(1), Tolerance{1e-6, 0}));
    CHECK_THAT(log_softmax(x, 0).slice(0, 0, 3).to(float64),
               IsCloseTo(log(want.slice(0, 0, 3)), Tolerance{1e-6, 0}));
    const Tensor y = full({length}, 0.1, float32);
    CHECK_THAT(softmax_backward(ones({length}), y, 0).slice(0, 0, 2),
               HasValues({0.1 * (1 - 0.1 * double(length)), 0.1 * (1 - 0.1 * double(length))},
                         Tolerance{1e-6, 0}));
  }
}

TEST_CASE("softmax: nothing along one axis or beside it, to second order") {
  for (const Shape& shape : {Shape{2, 0}, Shape{0, 3}, Shape{2, 0, 3}}) {
    for (Index axis = 0; axis < shape.size(); ++axis) {
      INFO(shape << ", axis " << axis);
      for (const WhenAllHidden policy : {WhenAllHidden::nan, WhenAllHidden::zero}) {
        check_finite([&](const std::vector<Tensor>& x) { return softmax(x[0], axis, policy); },
                     {zeros(shape, float64)});
      }
      check_finite([&](const std::vector<Tensor>& x) { return log_softmax(x[0], axis); },
                   {zeros(shape, float32)});
    }
  }
}
