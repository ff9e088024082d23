#include "framework/ops/loss.h"

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

// -log softmax([2, 0, -1])
const std::vector<double> kRow = {0.16984601955628567, 2.1698460195562857, 3.1698460195562857};
const double kLogThree = 1.0986122886681098;

}  // namespace

TEST_CASE("cross_entropy: the three reductions") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor input = tensor({{2, 0, -1}, {0, 0, 0}}, dtype);
  const Tensor target = tensor({1, 2}, int64);
  CHECK_THAT(cross_entropy(input, target, {.reduction = Reduction::none}),
             HasValues({kRow[1], kLogThree}));
  CHECK_THAT(cross_entropy(input, target, {.reduction = Reduction::sum}),
             HasValues(kRow[1] + kLogThree));
  CHECK_THAT(cross_entropy(input, target), HasValues((kRow[1] + kLogThree) / 2));
}

TEST_CASE("cross_entropy: without a batch, and with more axes") {
  const Tensor row = tensor({2, 0, -1}, float64);
  CHECK_THAT(cross_entropy(row, tensor(0, int64)), HasValues(kRow[0]));
  const Tensor input = row.view({1, 3, 1}).expand({2, 3, 2});
  const Tensor target = tensor({{0, 1}, {2, 0}}, int64);
  CHECK_THAT(cross_entropy(input, target, {.reduction = Reduction::none}),
             HasValues({{kRow[0], kRow[1]}, {kRow[2], kRow[0]}}));
  CHECK(cross_entropy(zeros({2, 3, 4, 5}), zeros({2, 4, 5}, int64), {.reduction = Reduction::none})
            .shape() == Shape{2, 4, 5});
}

TEST_CASE("cross_entropy: gradient is softmax minus the target") {
  const Tensor input = leaf({{2, 0, -1}, {0, 0, 0}});
  cross_entropy(input, tensor({1, 2}, int64)).backward();
  const double third = 1. / 3;
  CHECK_THAT(
      input.grad(),
      HasValues({{std::exp(-kRow[0]) / 2, (std::exp(-kRow[1]) - 1) / 2, std::exp(-kRow[2]) / 2},
                 {third / 2, third / 2, (third - 1) / 2}}));
}

// C033: no product of a one-hot row with infinite logarithms.
TEST_CASE("cross_entropy: a logit of -inf") {
  const Tensor input = leaf({{0, -kInf}});
  SECTION("of another class") {
    const Tensor loss = cross_entropy(input, tensor({0}, int64));
    CHECK_THAT(loss, HasValues(0));
    loss.backward();
    CHECK_THAT(input.grad(), HasValues({{0, 0}}));
  }
  SECTION("of the target") {
    const Tensor loss = cross_entropy(input, tensor({1}, int64));
    CHECK_THAT(loss, HasValues(kInf));
    loss.backward();
    CHECK_THAT(input.grad(), HasValues({{1, -1}}));
  }
  SECTION("with label smoothing the honest loss is infinite, not NaN") {
    CHECK_THAT(cross_entropy(input, tensor({0}, int64), {.label_smoothing = 0.1}), HasValues(kInf));
  }
}

TEST_CASE("cross_entropy: large logits") {
  const Tensor input = leaf({{1000, 0, -1000}}, float32);
  const Tensor loss = cross_entropy(input, tensor({1}, int64));
  CHECK_THAT(loss, HasValues(1000));
  loss.backward();
  CHECK_THAT(input.grad(), HasValues({{1, -1, 0}}));
}

TEST_CASE("cross_entropy: label smoothing spreads a share over all classes") {
  const Tensor input = tensor({{2, 0, -1}}, float64);
  const double all = kRow[0] + kRow[1] + kRow[2];
  CHECK_THAT(cross_entropy(input, tensor({0}, int64), {.label_smoothing = 0.1}),
             HasValues(0.9 * kRow[0] + 0.1 / 3 * all));
  CHECK_THAT(cross_entropy(input, tensor({2}, int64), {.label_smoothing = 1}), HasValues(all / 3));
}

// C039: a row that is ignored counts nowhere, in the smoothing neither.
TEST_CASE("cross_entropy: ignored rows have no say") {
  const CrossEntropyOptions options{.label_smoothing = 0.1};
  const Tensor target = tensor({0, -100}, int64);
  const Tensor input = leaf({{2, 0, -1}, {0, 0, 0}});
  const Tensor loss = cross_entropy(input, target, options);
  CHECK_THAT(loss, HasValues(0.336513, Tolerance{0, 1e-6}));
  loss.backward();
  CHECK_THAT(input.grad()[1], HasValues({0, 0, 0}));

  const Tensor other = leaf({{2, 0, -1}, {-kInf, 50, kNaN}});
  const Tensor same = cross_entropy(other, target, options);
  CHECK_THAT(same, IsCloseTo(loss, exactly));
  same.backward();
  CHECK_THAT(other.grad()[0], IsCloseTo(input.grad()[0]));
}

TEST_CASE("cross_entropy: nothing counts") {
  const Tensor input = leaf({{2, 0, -1}});
  const Tensor target = tensor({-100}, int64);
  const Tensor loss = cross_entropy(input, target);
  CHECK_THAT(loss, HasValues(kNaN));
  loss.backward();
  CHECK_THAT(input.grad(), HasValues({{0, 0, 0}}));
  CHECK_THAT(cross_entropy(input, target, {.reduction = Reduction::sum}), HasValues(0));
  CHECK_THAT(cross_entropy(zeros({0, 3}), zeros({0}, int64)), HasValues(kNaN));
  CHECK_THAT(cross_entropy(zeros({0, 3}), zeros({0}, int64), {.reduction = Reduction::sum}),
             HasValues(0));
}

// C040: the ignored value may be any integer; every other must be a class.
TEST_CASE("cross_entropy: targets outside the classes") {
  const Tensor input = zeros({2, 3});
  CHECK(error_text<ValueError>([&] {
          cross_entropy(input, tensor({0, 3}, int64));
        }) ==
        "cross_entropy: target 3 is outside 0..2\n"
        "  got    input (2, 3) (3 classes), target (2,), ignore_index -100");
  CHECK(error_text<ValueError>([&] {
          cross_entropy(input, tensor({-1, 0}, int64));
        }) ==
        "cross_entropy: target -1 is outside 0..2\n"
        "  got    input (2, 3) (3 classes), target (2,), ignore_index -100");
  for (const Index ignored : {-100, 255, -1, 3, 0}) {
    for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
      const Tensor loss = cross_entropy(input, from_vector<std::int64_t>({1, ignored}),
                                        {.reduction = reduction, .ignore_index = ignored});
      CHECK_THAT(loss, HasValues(reduction == Reduction::none ? NestedNumbers{kLogThree, 0.0}
                                                              : NestedNumbers(kLogThree)));
    }
  }
}

TEST_CASE("cross_entropy: what does not fit") {
  CHECK(error_text<ShapeError>([] {
          cross_entropy(zeros({2, 3}), zeros({3}, int64));
        }) ==
        "cross_entropy: the targets do not fit the input\n"
        "  got    input (2, 3) float32, target (3,) int64\n"
        "  need   input (N, C), (C) or (N, C, d...), target without the axis C");
  CHECK(error_text<ShapeError>([] { cross_entropy(zeros({}), zeros({}, int64)); }) ==
        "cross_entropy: the targets do not fit the input\n"
        "  got    input () float32, target () int64\n"
        "  need   input (N, C), (C) or (N, C, d...), target without the axis C");
  CHECK_THROWS_AS(cross_entropy(zeros({2, 3, 4}), zeros({2, 3}, int64)), ShapeError);
  CHECK(error_text<DTypeError>([] {
          cross_entropy(zeros({2, 3}), zeros({2}));
        }) ==
        "cross_entropy: target must be int64, not float32\n"
        "  got    target (2,) float32\n"
        "  hint   target.to(int64)");
  CHECK(error_text<DTypeError>([] {
          cross_entropy(zeros({2, 3}, int64), zeros({2}, int64));
        }) ==
        "cross_entropy: needs a floating tensor, not int64\n"
        "  got    x (2, 3) int64\n"
        "  hint   x.to(float32)");
  for (const double share : {-0.1, 1.1, kNaN}) {
    CHECK(error_text<ValueError>([&] {
            cross_entropy(zeros({2, 3}), zeros({2}, int64), {.label_smoothing = share});
          }) == text("cross_entropy: label_smoothing ", share, " is outside 0..1"));
  }
}
