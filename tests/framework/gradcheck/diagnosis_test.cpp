// Diagnosis: rules made wrong on purpose, one per kind of fault, must be told apart by name; and
// faults that are mixed, noisy or too few must not be given one.
#include "framework/gradcheck/diagnosis.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/autograd/function.h"
#include "framework/gradcheck/diagnosis_internal.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/join.h"
#include "framework/ops/linear.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

using Forward = std::function<Tensor(const Inputs&)>;
using Rules = std::vector<std::function<Tensor(const Vjp&)>>;

Function op(const std::string& name, Forward forward, Rules rules) {
  return Function({.name = name, .forward = std::move(forward), .rules = std::move(rules)});
}

std::string printed(const GradcheckReport& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

/// x * x, whose gradient is the right one as `spoilt` leaves it.
Function square(std::function<Tensor(const Tensor&)> spoilt) {
  return op("square", [](const Inputs& x) { return x[0] * x[0]; },
            {[spoilt](const Vjp& v) { return spoilt(v.grad() * v.input(0) * 2.0); }});
}

Diagnosis of_square(const Shape& shape, std::function<Tensor(const Tensor&)> spoilt) {
  return gradcheck(square(std::move(spoilt)), {random_normal(shape, 1)}).inputs[0].diagnosis;
}

/// The diagnosis of numbers given outright.
Diagnosis of_numbers(const Shape& shape, const std::vector<double>& analytic,
                     const std::vector<double>& numeric) {
  return checking::diagnose({.shape = shape,
                             .analytic = analytic,
                             .numeric = numeric,
                             .clear = std::vector<bool>(analytic.size(), true),
                             .limit = 1e-8});
}

/// x * factor, whose rule forgets the factor.
Tensor forgetful_scale(const Tensor& x, double factor) {
  return op("forgetful_scale", [factor](const Inputs& in) { return in[0] * factor; },
            {[](const Vjp& v) { return v.grad(); }})({x});
}

/// softmax along `axis` whose rule is y * g, without the sum along the axis.
Tensor softmax_without_sum(const Tensor& x, Index axis) {
  return op("my_softmax", [axis](const Inputs& in) { return softmax(in[0], axis); },
            {[](const Vjp& v) { return v.grad() * v.output(); }})({x});
}

}  // namespace

// ---- factors and signs ----

TEST_CASE("diagnosis: a flipped sign", "[diagnosis]") {
  const GradcheckReport report =
      gradcheck(square([](const Tensor& g) { return -g; }), {random_normal({2, 3}, 1)});
  CHECK(report.inputs[0].diagnosis.fault == Fault::sign);
  CHECK_THAT(printed(report), ContainsSubstring("    pattern   ratio -1 in 6 of 6 elements\n"
                                                "  likely cause  the sign is flipped\n"
                                                "  look at       the backward of square\n"));
  CHECK(of_square({1}, [](const Tensor& g) { return -g; }).fault == Fault::sign);
}

TEST_CASE("diagnosis: a factor that is the root of a size around, and of an inner one",
          "[diagnosis]") {
  // Two heads of 8: d_head is a size of no input, but of the steps between.
  const auto attention = [](const Tensor& x, const Tensor& w_q, const Tensor& w_k,
                            const Tensor& w_v) {
    const auto heads = [&x](const Tensor& w) {
      return matmul(x, w).view({6, 2, 8}).transpose(0, 1);
    };
    const Tensor scores = matmul(heads(w_q), heads(w_k).transpose(1, 2));
    const Tensor weights = softmax(forgetful_scale(scores, 1.0 / std::sqrt(8.0)), -1);
    return matmul(weights, heads(w_v));
  };
  const GradcheckReport report =
      gradcheck(attention,
                {random_normal({6, 16}, 1) * 0.3, random_normal({16, 16}, 2) * 0.3,
                 random_normal({16, 16}, 3) * 0.3, random_normal({16, 16}, 4) * 0.3},
                {.names = {"x", "W_q", "W_k", "W_v"}});
  const Diagnosis& q = report.inputs[1].diagnosis;
  CHECK(q.fault == Fault::factor);
  CHECK(q.ratio == Approx(std::sqrt(8.0)));
  CHECK(q.holds == 256);
  CHECK(report.inputs[2].diagnosis.fault == Fault::factor);
  CHECK(report.inputs[3].passed);
  const std::string text = printed(report);
  CHECK_THAT(text, ContainsSubstring("    pattern   ratio 2.82843 = sqrt(8) in 256 of 256 elem"));
  CHECK_THAT(text, ContainsSubstring("  likely cause  the factor 1/sqrt(8) is applied in forward "
                                     "but not in backward (8: axis 2 of "));
  // x feeds all three: its gradient is wrong because theirs are, by no one factor.
  CHECK(report.inputs[0].diagnosis.fault == Fault::unclear);
  CHECK_THAT(text, ContainsSubstring(
                       "FAIL  3 of 4 tensors (x is downstream of W_q and W_k: fix those first)\n"));
  // By its first input, as W_v, which is right, came by the second.
  CHECK(report.suspects == "matmul, forgetful_scale, softmax and matmul (its input 0)");
}

TEST_CASE("diagnosis: factors with a meaning are named, with the size they come from",
          "[diagnosis]") {
  const auto pattern = [](const Shape& shape, double factor) {
    const Diagnosis found = of_square(shape, [factor](const Tensor& g) { return g * factor; });
    CHECK(found.fault == Fault::factor);
    return found.pattern + ": " + found.cause;
  };
  CHECK(pattern({5, 7}, 1.0 / std::sqrt(5.0)) ==
        "ratio 0.447214 = 1/sqrt(5) in 35 of 35 elements: the factor 1/sqrt(5) is applied in "
        "backward once too often (5: axis 0 of input 0)");
  CHECK(pattern({5, 7}, 7.0) ==
        "ratio 7 in 35 of 35 elements: the factor 1/7 is applied in forward but not in backward, a "
        "mean's perhaps (7: axis 1 of input 0)");
  CHECK(pattern({5, 7}, 1.0 / 35.0) ==
        "ratio 0.0285714 = 1/35 in 35 of 35 elements: divided by 35 once too often, or one of 35 "
        "equal terms arrives (35: elements of input 0)");
  CHECK(pattern({5, 7}, 2.0) == "ratio 2 in 35 of 35 elements: the gradient is added up twice");
  CHECK(pattern({5}, 0.5) == "ratio 0.5 = 1/2 in 5 of 5 elements: the 2 of a square is lost");
  CHECK(pattern({5}, 1.01) ==
        "ratio 1.01 in 5 of 5 elements: a constant factor that forward does not have");
  CHECK(pattern({4, 3}, -std::sqrt(3.0)) ==
        "ratio -1.73205 = -sqrt(3) in 12 of 12 elements: the sign is flipped, and the factor "
        "1/sqrt(3) is applied in forward but not in backward (3: axis 1 of input 0)");
  // Where two explanations fit, both are offered.
  CHECK(pattern({4}, 2.0) ==
        "ratio 2 = sqrt(4) in 4 of 4 elements: the gradient is added up twice; or the factor "
        "1/sqrt(4) is applied in forward but not in backward (4: axis 0 of input 0)");
}

TEST_CASE("diagnosis: a factor in some elements only, and where", "[diagnosis]") {
  const Tensor signs = tensor({{1, 1, -1}, {1, 1, -1}, {1, 1, -1}}, float64);
  const Diagnosis found = of_square({3, 3}, [&](const Tensor& g) { return g * signs; });
  CHECK(found.fault == Fault::sign);
  CHECK(found.holds == 3);
  CHECK(found.of == 9);
  CHECK(found.pattern ==
        "ratio -1 in 3 of 9 elements, all at index 2 of axis 1; all others are right");
}

TEST_CASE("diagnosis: one wrong element, or two, have always some ratio", "[diagnosis]") {
  CHECK(of_square({1}, [](const Tensor& g) { return g * 1.37; }).fault == Fault::none);
  CHECK(of_square({2}, [](const Tensor& g) { return g * 1.37; }).fault == Fault::none);
  CHECK(of_square({1}, [](const Tensor& g) { return g * 2.0; }).fault == Fault::factor);
  const Tensor one = tensor({1, -1, 1, 1}, float64);
  CHECK(of_square({4}, [&](const Tensor& g) { return g * one; }).fault == Fault::none);
}

// ---- places ----

TEST_CASE("diagnosis: a transposed weight gradient", "[diagnosis]") {
  const auto linear = [](bool square) {
    return op("linear", [](const Inputs& in) { return matmul(in[0], in[1]); },
              {[](const Vjp& v) { return matmul(v.grad(), v.input(1).transpose(0, 1)); },
               [square](const Vjp& v) {
                 const Tensor dw = matmul(v.grad().transpose(0, 1), v.input(0));
                 return square ? dw : dw.reshape({dw.size(1), dw.size(0)});
               }});
  };
  const GradcheckReport report = gradcheck(
      linear(true), {random_normal({5, 4}, 1), random_normal({4, 4}, 2)}, {.names = {"x", "w"}});
  CHECK(report.inputs[1].diagnosis.fault == Fault::transpose);
  CHECK_THAT(
      printed(report),
      ContainsSubstring(
          "    pattern   analytic is numeric with axes 0 and 1 exchanged, in 16 of 16 elements\n"
          "  likely cause  transposed: a transpose is missing from the rule, or once too many\n"
          "  look at       the backward of linear (its input 1)\n"));
  const GradcheckReport reshaped =
      gradcheck(linear(false), {random_normal({5, 4}, 1), random_normal({4, 3}, 2)});
  CHECK(reshaped.inputs[1].diagnosis.fault == Fault::transpose);
  CHECK_THAT(printed(reshaped), ContainsSubstring("transposed, and reshaped to fit"));
}

TEST_CASE("diagnosis: disconnected, whole and in part", "[diagnosis]") {
  const Tensor x = random_normal({3, 4}, 1);
  const GradcheckReport detached =
      gradcheck([](const Tensor& a, const Tensor& b) { return a * b.detach(); },
                {x, random_normal({3, 4}, 2)});
  CHECK(detached.inputs[1].diagnosis.fault == Fault::disconnected);
  CHECK_THAT(printed(detached),
             ContainsSubstring(
                 "    note      not on the tape of any output: detached, or under NoGrad?\n"
                 "    pattern   analytic is 0, numeric is not, in 12 of 12 elements\n"
                 "  likely cause  disconnected: no gradient arrives at this input at all\n"));

  const Tensor keep = tensor({{1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}}, float64);
  const Diagnosis part = of_square({3, 4}, [&](const Tensor& g) { return g * keep; });
  CHECK(part.fault == Fault::disconnected);
  CHECK(part.pattern ==
        "analytic is 0, numeric is not, in 4 of 12 elements, all at index 1 of axis 0");
  CHECK(part.cause == "the gradient of these elements is dropped on its way");
}

TEST_CASE("diagnosis: gradient that leaks at masked positions", "[diagnosis]") {
  const Tensor mask = tensor({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}, boolean);
  const Function leaky =
      op("leaky_fill", [&](const Inputs& in) { return masked_fill(in[0], mask, -20); },
         {[](const Vjp& v) { return v.grad(); }});
  const auto hidden = [&](const Tensor& a) { return leaky({a}); };
  const GradcheckReport report = gradcheck(hidden, {random_normal({3, 3}, 1)});
  CHECK(report.inputs[0].diagnosis.fault == Fault::leak);
  CHECK_THAT(
      printed(report),
      ContainsSubstring(
          "    pattern   numeric is exactly 0, analytic is not, in 3 of 3 elements without a slope;"
          " all others\n              are right\n"
          "  likely cause  the rule lets gradient through at positions that are masked or cut "
          "off"));
}

// ---- sums ----

TEST_CASE("diagnosis: a softmax that lost its row sum", "[diagnosis]") {
  const auto plain = [](const Tensor& x) { return softmax_without_sum(x, -1); };
  const GradcheckReport report = gradcheck(plain, {random_normal({3, 4}, 1)});
  CHECK(report.inputs[0].diagnosis.fault == Fault::row_sum);
  CHECK_THAT(
      printed(report),
      ContainsSubstring(
          "    pattern   analytic - numeric is the softmax of step my_softmax times one number per "
          "row in 3 of\n              3 rows along axis 1\n"
          "  likely cause  the rule of softmax lacks its row sum, sum(g * y) along axis 1\n"));

  SECTION("among other steps, along another axis") {
    const auto inside = [](const Tensor& x) {
      return matmul(softmax_without_sum(x * 1.0, 0).transpose(0, 1), x.detach());
    };
    const auto found =
        gradcheck([&](const Tensor& x) { return inside(x + 0.0); }, {random_normal({4, 3}, 1)});
    CHECK_FALSE(found);  // detach() makes a second fault: no name for the two together
    CHECK(found.inputs[0].diagnosis.fault == Fault::unclear);
    const Tensor values = random_normal({4, 2}, 5);
    const Diagnosis diagnosis =
        gradcheck(
            [&](const Tensor& x) {
              return matmul(softmax_without_sum(x, 0).transpose(0, 1), values);
            },
            {random_normal({4, 3}, 1)})
            .inputs[0]
            .diagnosis;
    CHECK(diagnosis.fault == Fault::row_sum);
    CHECK_THAT(diagnosis.cause, ContainsSubstring("along axis 0"));
  }
  SECTION("log_softmax") {
    const Function wrong =
        op("my_log_softmax", [](const Inputs& in) { return log_softmax(in[0], -1); },
           {[](const Vjp& v) { return v.grad(); }});
    CHECK(gradcheck(wrong, {random_normal({3, 4}, 1)}).inputs[0].diagnosis.fault == Fault::row_sum);
  }
  SECTION("a lost mean") {
    const Function centred =
        op("centred", [](const Inputs& in) { return in[0] - mean(in[0], {-1}, true); },
           {[](const Vjp& v) { return v.grad(); }});
    const Diagnosis diagnosis = gradcheck(centred, {random_normal({3, 4}, 1)}).inputs[0].diagnosis;
    CHECK(diagnosis.fault == Fault::row_sum);
    CHECK(diagnosis.cause == "the rule lacks the mean that it must subtract along axis 1");
  }
}

TEST_CASE("diagnosis: gradients overwritten where they should be added up", "[diagnosis]") {
  SECTION("rows that a lookup takes twice") {
    const Tensor indices = tensor({0, 2, 0, 1, 0}, int64);
    const Function lookup = op(
        "lookup", [&](const Inputs& in) { return embedding(indices, in[0]); }, {[](const Vjp& v) {
          return cat({v.grad().slice(0, 4, 5), v.grad().slice(0, 3, 4), v.grad().slice(0, 1, 2)},
                     0);
        }});
    const GradcheckReport report = gradcheck(lookup, {random_normal({3, 2}, 1)});
    CHECK(report.inputs[0].diagnosis.fault == Fault::accumulation);
    CHECK_THAT(
        printed(report),
        ContainsSubstring("    pattern   analytic is what comes from index 4 of 5 along axis 0 of "
                          "the output alone, in all 2\n              wrong elements\n"
                          "  likely cause  terms are overwritten, or left out, where they should "
                          "be added up\n"));
  }
  SECTION("a bias, of which the last of the batch is left") {
    const Function bias = op("bias", [](const Inputs& in) { return in[0] + in[1]; },
                             {[](const Vjp& v) { return v.grad(); },
                              [](const Vjp& v) { return v.grad().select(0, 3).sum({0}); }});
    const Diagnosis found =
        gradcheck(bias, {random_normal({4, 3, 2}, 1), random_normal({2}, 2)}).inputs[1].diagnosis;
    CHECK(found.fault == Fault::accumulation);
    CHECK_THAT(found.pattern, ContainsSubstring("index 3 of 4 along axis 0 of the output alone"));
  }
  SECTION("a bias, of which the first is left out") {
    const Function bias = op("bias", [](const Inputs& in) { return in[0] + in[1]; },
                             {[](const Vjp& v) { return v.grad(); },
                              [](const Vjp& v) { return v.grad().slice(0, 1).sum({0}); }});
    const Diagnosis found =
        gradcheck(bias, {random_normal({4, 3}, 1), random_normal({3}, 2)}).inputs[1].diagnosis;
    CHECK(found.fault == Fault::accumulation);
    CHECK_THAT(found.pattern, ContainsSubstring("all but index 0 of 4 along axis 0"));
  }
  SECTION("one of two uses of an input") {
    const Function product = op("product", [](const Inputs& in) { return in[0] * in[1]; },
                                {[](const Vjp& v) { return v.grad() * v.input(1); }});
    const GradcheckReport report = gradcheck(
        [&](const Tensor& x) {
          return product({x, x});
        },
        {random_normal({3, 5}, 1)});
    CHECK(report.inputs[0].diagnosis.fault == Fault::accumulation);
    CHECK(report.inputs[0].diagnosis.pattern == "ratio 0.5 = 1/2 in 15 of 15 elements");
    CHECK(report.inputs[0].diagnosis.cause ==
          "1 of its 2 uses on the tape arrives, as if overwritten, not added up");
  }
}

// ---- what must not be given a name ----

TEST_CASE("diagnosis: noise and mixed faults are unclear", "[diagnosis]") {
  const Tensor noise = random_normal({4, 4}, 9) * 1e-3 + 1.0;
  const Diagnosis noisy = of_square({4, 4}, [&](const Tensor& g) { return g * noise; });
  CHECK(noisy.fault == Fault::unclear);
  CHECK(noisy.pattern ==
        "none: no factor, sign, transpose or lost sum explains the 16 of 16 elements that are "
        "wrong");
  CHECK(noisy.cause.empty());

  // A factor near the limit is not told from noise at the limit.
  const Tensor fine_noise = random_normal({4, 4}, 9) * 3e-6 + 1.0;
  const Fault fine = of_square({4, 4}, [&](const Tensor& g) { return g * fine_noise; }).fault;
  CHECK((fine == Fault::unclear || fine == Fault::none));

  const Tensor two =
      tensor({{2, 2, -1, -1}, {2, 2, -1, -1}, {2, 2, -1, -1}, {2, 2, -1, -1}}, float64);
  CHECK(of_square({4, 4}, [&](const Tensor& g) { return g * two; }).fault == Fault::unclear);
  CHECK(of_square({4, 4}, [](const Tensor& g) { return g.transpose(0, 1) * 2.0; }).fault ==
        Fault::unclear);
  CHECK(of_square({4, 4}, [](const Tensor& g) { return g + 0.5; }).fault == Fault::unclear);
  // Zero where it must not be, and not zero where it must.
  CHECK(of_numbers({4}, {0, 0, 3, 4}, {1, 2, 0, 0}).fault == Fault::unclear);
  // Softmax's row sum lost, and a factor besides.
  const auto both = [](const Tensor& x) {
    return softmax_without_sum(forgetful_scale(x, 0.3), -1);
  };
  CHECK(gradcheck(both, {random_normal({3, 4}, 1)}).inputs[0].diagnosis.fault == Fault::unclear);
}

TEST_CASE("diagnosis: random numbers have no pattern", "[diagnosis]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const Shape& shape : {Shape{1}, Shape{2}, Shape{4, 4}, Shape{2, 3, 3}}) {
      CAPTURE(seed, shape);
      const Tensor target = random_normal(shape, seed + 1000);
      const Diagnosis found = of_square(shape, [&](const Tensor& g) { return g * 0.0 + target; });
      CHECK((found.fault == Fault::unclear || found.fault == Fault::none));
      // The same where an element takes its gradient from several outputs, and softmax is about.
      const Function summed =
          op("summed", [](const Inputs& x) { return matmul(x[0], x[0].transpose(0, 1)); },
             {[&](const Vjp&) {
               return random_normal({3, 3}, seed + 2000);
             }});
      if (shape.size() > 1) continue;
      const Diagnosis of_sum = gradcheck([&](const Tensor& x) { return summed({softmax(x, -1)}); },
                                         {random_normal({3, 3}, seed)})
                                   .inputs[0]
                                   .diagnosis;
      CHECK(of_sum.fault == Fault::unclear);
    }
  }
}

TEST_CASE("diagnosis: right gradients get none, and NaN gets none", "[diagnosis]") {
  CHECK(of_square({4}, [](const Tensor& g) { return g; }).fault == Fault::none);
  CHECK(of_square({4}, [](const Tensor& g) { return g * (1.0 + 1e-9); }).fault == Fault::none);
  CHECK(of_square({4}, [](const Tensor& g) { return g * kNaN; }).fault == Fault::none);
  CHECK(of_numbers({0}, {}, {}).fault == Fault::none);
}

TEST_CASE("diagnosis: two inputs wrong by themselves are not put in an order", "[diagnosis]") {
  const Function product = op("product", [](const Inputs& in) { return in[0] * in[1]; },
                              {[](const Vjp& v) { return v.grad() * v.input(1) * 3.0; },
                               [](const Vjp& v) { return -v.grad() * v.input(0); }});
  const GradcheckReport report = gradcheck(
      [&](const Tensor& a, const Tensor& b) {
        return product({a, b});
      },
      {random_normal({3}, 1), random_normal({3}, 2)});
  CHECK(report.advice.empty());
  CHECK(report.suspects == "product");
  CHECK(report.inputs[0].diagnosis.fault == Fault::factor);
  CHECK(report.inputs[1].diagnosis.fault == Fault::sign);
}

TEST_CASE("diagnosis: to second order, too", "[diagnosis]") {
  // The first gradient is right; the rule of its own rule has the sign wrong.
  const Function twice = op("twice_x_g", [](const Inputs& in) { return in[0] * in[1] * 2.0; },
                            {[](const Vjp& v) { return v.grad() * v.input(1) * -2.0; },
                             [](const Vjp& v) { return v.grad() * v.input(0) * 2.0; }});
  const Function outer =
      op("outer", [](const Inputs& x) { return x[0] * x[0]; }, {[twice](const Vjp& v) {
           return twice({v.input(0), v.grad()});
         }});
  const GradcheckReport report = gradcheck(outer, {random_normal({4}, 1)}, {.order = 2});
  REQUIRE(report.inputs.size() == 3);
  CHECK(report.inputs[0].passed);
  CHECK(report.inputs[1].diagnosis.fault == Fault::sign);
  CHECK(report.suspects == "twice_x_g (its input 0)");
}

// ---- random directions ----

TEST_CASE("large inputs are checked along random directions, and the report says so",
          "[gradcheck]") {
  const Tensor large = random_normal({6000}, 1);
  const Tensor small = random_normal({1}, 2);
  const auto with_factor = [](double factor) {
    return [factor](const Tensor& a, const Tensor& b) {
      return square([factor](const Tensor& g) { return g * factor; })({a}) * b;
    };
  };
  const GradcheckReport right = gradcheck(with_factor(1.0), {large, small});
  CHECK(right);
  CHECK(right.inputs[0].directions == 32);
  CHECK(right.inputs[0].checked == 6000);
  CHECK_FALSE(right.inputs[0].numeric.defined());
  CHECK(right.inputs[1].directions == 0);
  CHECK(right.evaluations == 2 + 4 * 32 + 4);
  CHECK_THAT(printed(right),
             ContainsSubstring("work       1 elements, 32 random directions (dirs) through 6000 "
                               "elements, of inputs of more than 5000,\n"
                               "           134 evaluations"));
  CHECK_THAT(printed(right), ContainsSubstring(" input 0  (6000,)  32 dirs  "));

  const GradcheckReport wrong = gradcheck(with_factor(-2.0), {large, small});
  CHECK_FALSE(wrong);
  CHECK(wrong.inputs[0].wrong == 32);
  CHECK(wrong.inputs[0].worst_direction >= 0);
  CHECK(wrong.inputs[0].diagnosis.fault == Fault::factor);
  CHECK(wrong.inputs[0].diagnosis.pattern == "ratio -2 in 32 of 32 directions");
  CHECK_THAT(printed(wrong), ContainsSubstring("  input 0 along direction ") &&
                                 ContainsSubstring("of 32 directions; {.max_elements = 6000} names "
                                                   "the elements\n"));
  CHECK(gradcheck(with_factor(1.0), {large, small}, {.max_elements = 6000}).inputs[0].directions ==
        0);
}

TEST_CASE("one wrong element among thousands shows along a direction", "[gradcheck]") {
  std::vector<double> factors(10000, 1.0);
  factors[1234] = 1.1;
  Tensor factor({10000}, float64);
  std::ranges::copy(factors, factor.mutable_data<double>());
  const Function spoilt = square([&](const Tensor& g) { return g * factor; });
  CHECK_FALSE(gradcheck(spoilt, {random_normal({10000}, 1)}));
}

TEST_CASE("directions leave alone what is frozen or infinite, and kinks", "[gradcheck]") {
  const GradcheckOptions options{.max_elements = 3, .directions = 8};
  SECTION("to second order, through strides") {
    GradcheckOptions both = options;
    both.order = 2;
    CHECK_GRADIENTS(matmul, {stored_transposed(random_normal({3, 4}, 1)), random_normal({4, 2}, 2)},
                    both);
  }
  SECTION("frozen") {
    GradcheckOptions frozen = options;
    frozen.frozen = {tensor({1, 0, 0, 0}, boolean)};
    const Tensor stop = tensor({0, 1, 1, 1}, float64);
    const auto stopped = square([&](const Tensor& g) { return g * stop; });
    CHECK_GRADIENTS(stopped, {random_normal({4}, 1)}, frozen);
    const GradcheckReport report =
        gradcheck(square([](const Tensor& g) { return g; }), {random_normal({4}, 1)}, frozen);
    CHECK_FALSE(report);
    CHECK(report.inputs[0].worst == Shape{0});
    CHECK(report.inputs[0].checked == 3);
    CHECK(report.inputs[0].wrong == 1);
  }
  SECTION("infinite") {
    CHECK_GRADIENTS([](const Tensor& x) { return softmax(x, -1); },
                    {tensor({1, -kInf, 2, 0.5}, float64)}, options);
  }
  SECTION("kinks that happen to be near are avoided, one at the point is reported") {
    CHECK_GRADIENTS([](const Tensor& x) { return relu(x); }, {random_normal({20000}, 1)});
    const GradcheckReport report = gradcheck([](const Tensor& x) { return relu(x); },
                                             {tensor({0, 1, 2, 3}, float64)}, options);
    CHECK_FALSE(report);
    CHECK(report.failures.at(0) ==
          "input 0 cannot be checked along random directions\n"
          "  got    32 of 32 meet a kink\n"
          "  hint   {.max_elements = 4} checks it element by element");
  }
  CHECK_THROWS_WITH(
      gradcheck(matmul, {ones({1, 1}, float64), ones({1, 1}, float64)}, {.directions = 0}),
      "gradcheck: directions 0 is not from 1 up");
}

TEST_CASE("a step that leaves the domain of a function is shortened", "[gradcheck]") {
  CHECK_GRADIENTS([](const Tensor& x) { return log(x); }, {tensor({1e-6, 3e-9, 1}, float64)});
  CHECK_GRADIENTS([](const Tensor& x) { return sqrt(x); }, {tensor({1e-7, 1}, float64)});
}

// ---- JSON ----

TEST_CASE("the report as JSON", "[gradcheck]") {
  const auto wrong = square([](const Tensor& g) { return g * tensor({kNaN, kInf, 1}, float64); });
  const std::string name = "a \"name\"\\\n\t\x01 \xC3\xA9 \xFF\xC3";
  const auto report =
      gradcheck([&](const Tensor& x, const Tensor&) { return wrong({x}); },
                {tensor({-1, 1, 2}, float64), tensor({1, 2}, int64)}, {.names = {name, "ids"}});
  const nlohmann::json json = nlohmann::json::parse(to_json(report));
  CHECK(json["passed"] == false);
  CHECK(json["seed"] == 1);
  CHECK(json["rtol"] == 1e-6);
  CHECK(json["evaluations"] == report.evaluations);
  CHECK(json["failures"].empty());
  const nlohmann::json& row = json["inputs"][0];
  CHECK(row["name"] == "a \"name\"\\\n\t\x01 \xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(row["shape"] == std::vector<int>{3});
  CHECK(row["method"] == "elementwise");
  CHECK(row["wrong"] == 2);
  CHECK(row["max_abs_error"] == "nan");
  CHECK(row["worst"]["index"] == std::vector<int>{0});
  CHECK(row["worst"]["direction"].is_null());
  CHECK(row["worst"]["analytic"] == "nan");
  CHECK(row["limit"].get<double>() == report.inputs[0].limit);
  CHECK(row["diagnosis"].is_null());
  CHECK(json["inputs"][1]["method"] == "none");
  CHECK(json["inputs"][1]["note"] == "not checked: int64");

  const auto negative = square([](const Tensor& g) { return -g; });
  const nlohmann::json sign = nlohmann::json::parse(
      to_json(gradcheck(negative, {random_normal({4}, 1)}, {.max_elements = 2})));
  CHECK(sign["inputs"][0]["method"] == "directions");
  CHECK(sign["inputs"][0]["worst"]["index"].is_null());
  CHECK(sign["inputs"][0]["diagnosis"]["fault"] == "flipped sign");
  CHECK(sign["inputs"][0]["diagnosis"]["ratio"].get<double>() == Approx(-1.0));
  CHECK(sign["suspects"] == "square");
  CHECK(nlohmann::json::parse(to_json(GradcheckReport{}))["passed"] == true);
}
