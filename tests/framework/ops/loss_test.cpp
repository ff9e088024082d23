// Losses: the reductions, weights and ignored targets by hand, infinite logits, empty batches, and
// what does not fit.
#include "framework/ops/loss.h"

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/indexing.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
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
        "  got    input (2, 3) (3 classes), target (2,), first at (1,), 1 of 2 outside; "
        "ignore_index -100");
  CHECK(error_text<ValueError>([&] {
          cross_entropy(input, tensor({-1, 0}, int64));
        }) ==
        "cross_entropy: target -1 is outside 0..2\n"
        "  got    input (2, 3) (3 classes), target (2,), first at (0,), 1 of 2 outside; "
        "ignore_index -100");
  for (const Index ignored : {-100, 255, -1, 3, 0}) {
    for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
      const Tensor loss = cross_entropy(input, from_vector<std::int64_t>({1, ignored}),
                                        {.ignore_index = ignored, .reduction = reduction});
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
        "cross_entropy: the input has no axis of classes\n"
        "  need   input (N, C), (C) or (N, C, d...)");
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

TEST_CASE(
    "cross_entropy and nll_loss: a wrong target is named with its place, beside ignored ones") {
  const Tensor input = zeros({2, 3, 2});
  const Tensor target = tensor({{0, 255}, {7, -1}}, int64);
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    const std::string got =
        ": target 7 is outside 0..2\n"
        "  got    input (2, 3, 2) (3 classes), target (2, 2), first at (1, 0), 2 of 4 outside; "
        "ignore_index 255";
    CHECK(error_text<ValueError>([&] {
            cross_entropy(input, target, {.ignore_index = 255, .reduction = reduction});
          }) == "cross_entropy" + got);
    CHECK(error_text<ValueError>([&] {
            nll_loss(input, target, {.ignore_index = 255, .reduction = reduction});
          }) == "nll_loss" + got);
    for (const Index ignored : {-100, 255, -1, 3}) {
      const Tensor given = from_vector<std::int64_t>({1, ignored});
      CHECK_THAT(
          nll_loss(tensor({{-1, -2, -3}, {-4, -5, -6}}), given,
                   {.ignore_index = ignored, .reduction = reduction}),
          HasValues(reduction == Reduction::none ? NestedNumbers{2.0, 0.0} : NestedNumbers(2.0)));
    }
  }
}

TEST_CASE("cross_entropy: a logit of -inf in either dtype, reduction and form, to second order") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor row = tensor({0, -kInf}, dtype);
  const Tensor one_hot_of_0 = tensor({{1, 0}}, dtype);
  const auto gradient = [&](const Tensor& input, const Tensor& target,
                            const CrossEntropyOptions& options) {
    const Tensor x = input.clone().requires_grad_();
    cross_entropy(x, target, options).sum().backward();
    return x.grad();
  };
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    CHECK_THAT(gradient(row.unsqueeze(0), tensor({0}, int64), {.reduction = reduction}),
               HasValues({{0, 0}}, exactly));
    CHECK_THAT(gradient(row.unsqueeze(0), tensor({1}, int64), {.reduction = reduction}),
               HasValues({{1, -1}}, exactly));
    CHECK_THAT(gradient(row, tensor(1, int64), {.reduction = reduction}),
               HasValues({1, -1}, exactly));
    CHECK_THAT(gradient(row.view({1, 2, 1}), tensor({{1}}, int64), {.reduction = reduction}),
               HasValues({{{1}, {-1}}}, exactly));
    CHECK_THAT(gradient(row.unsqueeze(0), one_hot_of_0, {.reduction = reduction}),
               HasValues({{0, 0}}, exactly));
    // The loss is infinite, its gradient p - q is not.
    CHECK_THAT(gradient(row.unsqueeze(0), tensor({0}, int64),
                        {.reduction = reduction, .label_smoothing = 0.1}),
               HasValues({{0.05, -0.05}}));
    CHECK_THAT(cross_entropy(row.unsqueeze(0), tensor({0}, int64),
                             {.reduction = reduction, .label_smoothing = 0.1})
                   .sum(),
               HasValues(kInf));
  }
  const Tensor x = row.unsqueeze(0).clone().requires_grad_();
  for (const Index label : {0, 1}) {
    const Tensor loss = cross_entropy(x, from_vector<std::int64_t>({label}));
    const Tensor first = gradients({loss}, {x}, {.create_graph = true})[0];
    CHECK_THAT(gradients({(first * first).sum()}, {x})[0], HasValues({{0, 0}}, exactly));
  }
}

TEST_CASE("cross_entropy: an ignored row has no say in any reduction, weighted or not") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor target = tensor({0, 255}, int64);
  const Tensor counted = tensor({{2, 0, -1}, {0, 0, 0}}, dtype);
  const Tensor spoiled = tensor({{2, 0, -1}, {kNaN, -kInf, 1e30}}, dtype);
  const double smooth = 0.336513;
  for (const Tensor& input : {counted, spoiled}) {
    const auto loss = [&](Reduction reduction) {
      return cross_entropy(input, target,
                           {.ignore_index = 255, .reduction = reduction, .label_smoothing = 0.1});
    };
    CHECK_THAT(loss(Reduction::none), HasValues({smooth, 0}, Tolerance{0, 1e-6}));
    CHECK_THAT(loss(Reduction::sum), HasValues(smooth, Tolerance{0, 1e-6}));
    CHECK_THAT(loss(Reduction::mean), HasValues(smooth, Tolerance{0, 1e-6}));
    const Tensor x = input.clone().requires_grad_();
    const Tensor weight = tensor({0.5, 2, 1}, dtype);
    for (const Tensor& class_weight : {Tensor(), weight}) {
      x.zero_grad();
      cross_entropy(x, target,
                    {.weight = class_weight, .ignore_index = 255, .label_smoothing = 0.1})
          .backward();
      CHECK_THAT(x.grad()[1], HasValues({0, 0, 0}, exactly));
      CHECK_THAT(x.grad()[0].sum(), HasValues(0, Tolerance{0, 1e-6}));
    }
  }
}

// ---- class weights and distributions ----

TEST_CASE("cross_entropy: class weights weigh the mean, too") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor input = tensor({{2, 0, -1}, {0, 0, 0}, {2, 0, -1}}, dtype);
  const Tensor target = tensor({1, 2, 0}, int64);
  const Tensor weight = tensor({0.5, 2, 1}, dtype);
  const double total = 2 * kRow[1] + kLogThree + 0.5 * kRow[0];
  CHECK_THAT(cross_entropy(input, target, {.weight = weight, .reduction = Reduction::none}),
             HasValues({2 * kRow[1], kLogThree, 0.5 * kRow[0]}));
  CHECK_THAT(cross_entropy(input, target, {.weight = weight, .reduction = Reduction::sum}),
             HasValues(total));
  CHECK_THAT(cross_entropy(input, target, {.weight = weight}), HasValues(total / 3.5));
  CHECK_THAT(cross_entropy(input, target, {.weight = weight, .ignore_index = 1}),
             HasValues((kLogThree + 0.5 * kRow[0]) / 1.5));
  CHECK_THAT(cross_entropy(input, target, {.weight = zeros({3}, dtype)}), HasValues(kNaN));
}

// C039: the smoothing shares its weights, and an ignored target is no index into them.
TEST_CASE("cross_entropy: weights, smoothing and ignored targets together") {
  const Tensor input = leaf({{2, 0, -1}, {0, 0, 0}});
  const Tensor weight = tensor({0.5, 2, 1}, float64);
  const double smooth = 0.5 * kRow[0] + 2 * kRow[1] + kRow[2];
  for (const Index ignored : {-100, 255, 2}) {
    const Tensor loss =
        cross_entropy(input, from_vector<std::int64_t>({1, ignored}),
                      {.weight = weight, .ignore_index = ignored, .label_smoothing = 0.3});
    CHECK_THAT(loss, HasValues((0.7 * 2 * kRow[1] + 0.1 * smooth) / 2));
    CHECK_THAT(gradients({loss}, {input})[0][1], HasValues({0, 0, 0}));
  }
}

TEST_CASE("cross_entropy: a distribution over the classes") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor input = tensor({{2, 0, -1}, {0, 0, 0}}, dtype);
  const Tensor target = tensor({{0.5, 0.25, 0.25}, {0, 1, 0}}, dtype);
  const double first = 0.5 * kRow[0] + 0.25 * kRow[1] + 0.25 * kRow[2];
  CHECK_THAT(cross_entropy(input, target, {.reduction = Reduction::none}),
             HasValues({first, kLogThree}));
  CHECK_THAT(cross_entropy(input, target), HasValues((first + kLogThree) / 2));
  const double weighted = 0.5 * 0.5 * kRow[0] + 2 * 0.25 * kRow[1] + 0.25 * kRow[2];
  CHECK_THAT(cross_entropy(input, target, {.weight = tensor({0.5, 2, 1}, dtype)}),
             HasValues((weighted + 2 * kLogThree) / 2));  // over the items, not their weights
  const double all = (kRow[0] + kRow[1] + kRow[2]) / 3;
  CHECK_THAT(cross_entropy(input, target, {.label_smoothing = 0.2}),
             HasValues((0.8 * first + 0.2 * all + kLogThree) / 2));
  CHECK_THAT(cross_entropy(input[0], target[0]), HasValues(first));
  CHECK_THAT(cross_entropy(zeros({0, 3}, dtype), zeros({0, 3}, dtype)), HasValues(kNaN));
  CHECK_THAT(
      cross_entropy(zeros({0, 3}, dtype), zeros({0, 3}, dtype), {.reduction = Reduction::sum}),
      HasValues(0));
}

TEST_CASE("cross_entropy: a one-hot distribution is that class") {
  const Tensor input = random_normal({2, 4, 3}, 1).requires_grad_();
  const Tensor target = tensor({{0, 3, 1}, {2, 2, 0}}, int64);
  const Tensor one = movedim(one_hot(target, 4), -1, 1).to(float64);
  const Tensor by_index = cross_entropy(input, target, {.label_smoothing = 0.1});
  const Tensor by_distribution = cross_entropy(input, one, {.label_smoothing = 0.1});
  CHECK_THAT(by_distribution, IsCloseTo(by_index));
  CHECK_THAT(gradients({by_distribution}, {input})[0],
             IsCloseTo(gradients({by_index}, {input})[0]));
}

TEST_CASE("cross_entropy: weights and distributions that do not fit") {
  CHECK(error_text<ShapeError>([] {
          cross_entropy(zeros({2, 3}), zeros({2}, int64), {.weight = ones({2})});
        }) ==
        "cross_entropy: needs one weight for each of the 3 classes\n"
        "  got    weight (2,) float32, input (2, 3) float32");
  CHECK(error_text<DTypeError>([] {
          cross_entropy(zeros({2, 3}), zeros({2}, int64), {.weight = ones({3}, float64)});
        }).starts_with("cross_entropy: float32 and float64 are not mixed silently"));
  CHECK(error_text<DTypeError>([] {
          cross_entropy(zeros({2, 3}), zeros({2, 3}, float64));
        }).starts_with("cross_entropy: float32 and float64 are not mixed silently"));
  CHECK_THROWS_AS(cross_entropy(zeros({2, 3}), zeros({2, 2})), DTypeError);
}

// ---- nll_loss ----

TEST_CASE("nll_loss: picks, weighs and ignores") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{-1, -2, -3}, {-4, -5, -6}}, dtype);
  const Tensor target = tensor({2, 0}, int64);
  CHECK_THAT(nll_loss(x, target, {.reduction = Reduction::none}), HasValues({3, 4}));
  CHECK_THAT(nll_loss(x, target), HasValues(3.5));
  CHECK_THAT(nll_loss(x, target, {.reduction = Reduction::sum}), HasValues(7));
  CHECK_THAT(nll_loss(x, target, {.weight = tensor({3, 1, 1}, dtype)}), HasValues(15. / 4));
  CHECK_THAT(nll_loss(x, target, {.ignore_index = 2}), HasValues(4));
  CHECK_THAT(nll_loss(x[0], tensor(1, int64)), HasValues(2));
  CHECK_THAT(nll_loss(x.unsqueeze(0).transpose(1, 2), tensor({{1, 2}}, int64),
                      {.reduction = Reduction::none}),
             HasValues({{2, 6}}));
  const Tensor input = tensor({{-1, -2, -3}, {-4, -5, -6}}, dtype).requires_grad_();
  nll_loss(input, target).backward();
  CHECK_THAT(input.grad(), HasValues({{0, 0, -0.5}, {-0.5, 0, 0}}));
}

// C033
TEST_CASE("nll_loss: -inf counts only where it is the target") {
  const Tensor x = leaf({{0, -kInf}, {-kInf, kNaN}});
  const Tensor loss = nll_loss(x, tensor({0, -100}, int64));
  CHECK_THAT(loss, HasValues(0));
  loss.backward();
  CHECK_THAT(x.grad(), HasValues({{-1, 0}, {0, 0}}));
  CHECK_THAT(nll_loss(x.slice(0, 0, 1), tensor({1}, int64)), HasValues(kInf));
}

TEST_CASE("nll_loss: nothing counts") {
  CHECK_THAT(nll_loss(zeros({2, 3}), tensor({-100, -100}, int64)), HasValues(kNaN));
  CHECK_THAT(nll_loss(zeros({0, 3}), zeros({0}, int64)), HasValues(kNaN));
  CHECK_THAT(nll_loss(zeros({0, 3}), zeros({0}, int64), {.reduction = Reduction::sum}),
             HasValues(0));
}

TEST_CASE("nll_loss: what does not fit") {
  CHECK(error_text<ValueError>([] {
          nll_loss(zeros({2, 3}), tensor({0, 3}, int64));
        }) ==
        "nll_loss: target 3 is outside 0..2\n"
        "  got    input (2, 3) (3 classes), target (2,), first at (1,), 1 of 2 outside; "
        "ignore_index -100");
  CHECK(error_text<ShapeError>([] {
          nll_loss(zeros({2, 3}), zeros({3}, int64));
        }) ==
        "nll_loss: the targets do not fit the input\n"
        "  got    input (2, 3) float32, target (3,) int64\n"
        "  need   input (N, C), (C) or (N, C, d...), target without the axis C");
  CHECK(error_text<ShapeError>([] { nll_loss(tensor(1), tensor(0, int64)); }) ==
        "nll_loss: the input has no axis of classes\n"
        "  need   input (N, C), (C) or (N, C, d...)");
  CHECK(error_text<DTypeError>([] {
          nll_loss(zeros({2, 3}), zeros({2}));
        }) ==
        "nll_loss: target must be int64, not float32\n"
        "  got    target (2,) float32\n"
        "  hint   target.to(int64)");
  CHECK(error_text<ShapeError>([] {
          nll_loss(zeros({2, 3}), zeros({2}, int64), {.weight = ones({3, 1})});
        }) ==
        "nll_loss: needs one weight for each of the 3 classes\n"
        "  got    weight (3, 1) float32, input (2, 3) float32");
}

// ---- mse_loss ----

TEST_CASE("mse_loss: values, reductions, broadcasting") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({{1, 2}, {3, 4}}, dtype).requires_grad_();
  const Tensor y = tensor({1, 0}, dtype).requires_grad_();
  CHECK_THAT(mse_loss(x, y, Reduction::none), HasValues({{0, 4}, {4, 16}}));
  CHECK_THAT(mse_loss(x, y, Reduction::sum), HasValues(24));
  const Tensor loss = mse_loss(x, y);
  CHECK_THAT(loss, HasValues(6));
  loss.backward();
  CHECK_THAT(x.grad(), HasValues({{0, 1}, {1, 2}}));
  CHECK_THAT(y.grad(), HasValues({-1, -3}));
  CHECK_THAT(mse_loss(zeros({0}, dtype), zeros({0}, dtype)), HasValues(kNaN));
  CHECK_THAT(mse_loss(zeros({0}, dtype), zeros({0}, dtype), Reduction::sum), HasValues(0));
}

TEST_CASE("mse_loss: what does not fit") {
  CHECK(error_text<ShapeError>([] {
          mse_loss(zeros({2}), zeros({3}));
        }).starts_with("mse_loss: shapes do not broadcast (2 vs 3 on axis 0)"));
  CHECK(error_text<DTypeError>([] {
          mse_loss(zeros({2}), zeros({2}, float64));
        }).starts_with("mse_loss: float32 and float64 are not mixed silently"));
  CHECK(error_text<DTypeError>([] {
          mse_loss(zeros({2}, int64), zeros({2}, int64));
        }).starts_with("mse_loss: needs a floating tensor, not int64"));
}

// ---- binary_cross_entropy_with_logits ----

TEST_CASE("binary_cross_entropy_with_logits: values without overflow") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = tensor({0, 1000, -1000, 1000, -1000, 2}, dtype);
  const Tensor t = tensor({1, 1, 0, 0, 1, 0.25}, dtype);
  const double log2 = 0.6931471805599453;
  const double mixed = 0.75 * 2 + 0.12692801104297263;
  CHECK_THAT(binary_cross_entropy_with_logits(x, t, {.reduction = Reduction::none}),
             HasValues({log2, 0, 0, 1000, 1000, mixed}));
  CHECK_THAT(binary_cross_entropy_with_logits(x, t), HasValues((log2 + 2000 + mixed) / 6));
  const Tensor input = x.clone().requires_grad_();
  binary_cross_entropy_with_logits(input, t, {.reduction = Reduction::sum}).backward();
  CHECK_THAT(input.grad(), IsCloseTo(sigmoid(x) - t));
  CHECK_THAT(binary_cross_entropy_with_logits(zeros({0}, dtype), zeros({0}, dtype)),
             HasValues(kNaN));
}

TEST_CASE("binary_cross_entropy_with_logits: weights") {
  const Tensor x = tensor({{0, 2}, {-2, 0}}, float64);
  const Tensor t = tensor({{1, 0}, {1, 0}}, float64);
  const double log2 = 0.6931471805599453;
  const double far = 2 + 0.12692801104297263;
  CHECK_THAT(binary_cross_entropy_with_logits(
                 x, t, {.weight = tensor({1, 10}, float64), .reduction = Reduction::none}),
             HasValues({{log2, 10 * far}, {far, 10 * log2}}));
  CHECK_THAT(binary_cross_entropy_with_logits(
                 x, t, {.reduction = Reduction::none, .pos_weight = tensor({3, 7}, float64)}),
             HasValues({{3 * log2, far}, {3 * far, log2}}));
}

TEST_CASE("binary_cross_entropy_with_logits: what does not fit") {
  CHECK(error_text<ShapeError>([] { binary_cross_entropy_with_logits(zeros({2}), zeros({1})); }) ==
        "binary_cross_entropy_with_logits: the targets do not fit the input\n"
        "  got    input (2,) float32, target (1,) float32");
  CHECK(error_text<DTypeError>([] {
          binary_cross_entropy_with_logits(zeros({2}), zeros({2}, int64));
        }).starts_with("binary_cross_entropy_with_logits: float32 and int64 are not mixed"));
  CHECK_THROWS_AS(binary_cross_entropy_with_logits(zeros({2}), zeros({2}), {.weight = ones({3})}),
                  ShapeError);
}

// ---- kl_div ----

TEST_CASE("kl_div: of probabilities and of their logarithms") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor p = tensor({{0.5, 0.25, 0.25}, {1, 0, 0}}, dtype);
  const Tensor input = log_softmax(tensor({{2, 0, -1}, {0, 0, 0}}, dtype), -1);
  const double log2 = 0.6931471805599453;
  const NestedNumbers want = {
      {0.5 * (kRow[0] - log2), 0.25 * (kRow[1] - 2 * log2), 0.25 * (kRow[2] - 2 * log2)},
      {kLogThree, 0, 0}};
  CHECK_THAT(kl_div(input, p, Reduction::none), HasValues(want));
  const double total = 0.5 * (kRow[0] - log2) + 0.25 * (kRow[1] + kRow[2] - 4 * log2) + kLogThree;
  CHECK_THAT(kl_div(input, p, Reduction::sum), HasValues(total));
  CHECK_THAT(kl_div(input, p), HasValues(total / 6));  // by elements, as PyTorch
  CHECK_THAT(kl_div(input[0], log(p[0]), Reduction::sum, true), HasValues(total - kLogThree));
  CHECK_THAT(kl_div(input, exp(input), Reduction::sum), HasValues(0));
}

TEST_CASE("kl_div: a class that the target does not have counts 0") {
  const Tensor input = leaf({-1, -kInf});
  const Tensor target = leaf({1, 0});
  const Tensor loss = kl_div(input, target, Reduction::sum);
  CHECK_THAT(loss, HasValues(1));
  loss.backward();
  CHECK_THAT(input.grad(), HasValues({-1, 0}));
  const Tensor finite = kl_div(tensor({-1, -2}, float64), target, Reduction::sum);
  CHECK_THAT(gradients({finite}, {target})[0], HasValues({2, 0}));  // log t + 1 - input
  CHECK_THAT(kl_div(tensor({-kInf}), tensor({0.5})), HasValues(kInf));
}

TEST_CASE("kl_div: what does not fit") {
  CHECK_THROWS_AS(kl_div(zeros({2}), zeros({3})), ShapeError);
  CHECK(error_text<DTypeError>([] {
          kl_div(zeros({2}), zeros({2}, float64));
        }).starts_with("kl_div: float32 and float64 are not mixed silently"));
  CHECK(error_text<DTypeError>([] {
          kl_div(zeros({2}, int64), zeros({2}, int64));
        }).starts_with("kl_div: needs a floating tensor, not int64"));
}
