// The checker checked: rules made wrong on purpose must be rejected, by tensor, element and number,
// and right ones accepted. A test that cannot tell the two apart would be worth nothing.
#include "tests/support/gradcheck.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/core/random.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/dropout.h"
#include "framework/ops/extreme.h"
#include "framework/ops/indexing.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"

using namespace gradus;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

const double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor normals(const Shape& shape, std::uint64_t seed = 1) {
  Generator generator(seed);
  return randn(shape, float64, &generator);
}

std::string printed(const GradcheckReport& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

/// The value of an expression whose own steps are kept off the tape.
template <class F>
Tensor untaped(F expression) {
  const NoGrad no_grad;
  return expression();
}

/// x * other with a rule of the test's own for `other`.
template <class Rule>
Tensor product_with(const Tensor& x, const Tensor& other, Rule rule) {
  return record(
      "product", untaped([&] { return x * other; }), {x, other}, Saves::inputs,
      [](const Vjp& v) { return v.grad() * v.input(1); }, rule);
}

/// x * x, whose gradient is 2 g x times `factor`.
Tensor square(const Tensor& x, double factor) {
  return record("square", untaped([&] { return x * x; }), {x}, Saves::input0,
                [factor](const Vjp& v) { return v.grad() * v.input(0) * (2.0 * factor); });
}

/// A function of one tensor with the rule given.
template <class Forward, class Rule>
auto made_of(Forward forward, Rule rule) {
  return [forward, rule](const Tensor& x) {
    return record("made", untaped([&] { return forward(x); }), {x}, Saves::inputs | Saves::output,
                  rule);
  };
}

}  // namespace

// ---- rules made wrong on purpose ----

TEST_CASE("gradcheck rejects a wrong sign, and names input, element and both values",
          "[gradcheck]") {
  const Tensor x = tensor({{1, 2, 4}, {1, 2, 4}}, float64);
  const Tensor signs = tensor({{1, 1, -1}, {1, 1, 1}}, float64);
  const auto wrong = [&](const Tensor& a, const Tensor& b) {
    return product_with(a, b, [&](const Vjp& v) { return v.grad() * v.input(0) * signs; });
  };
  const GradcheckReport report = gradcheck(wrong, {x, x.clone()});

  CHECK_FALSE(report);
  CHECK(report.failures.empty());
  REQUIRE(report.inputs.size() == 2);
  CHECK(report.inputs[0].passed);
  const GradcheckInput& row = report.inputs[1];
  CHECK_FALSE(row.passed);
  CHECK(row.name == "input 1");
  CHECK(row.worst == Shape{0, 2});
  CHECK(row.checked == 6);
  CHECK(row.wrong == 1);
  CHECK(row.worst_analytic == Approx(-row.worst_numeric));
  CHECK(row.max_abs_error == Approx(2 * std::abs(row.worst_numeric)));
  CHECK(row.max_rel_error == Approx(row.max_abs_error / row.scale));
  CHECK(row.limit == Approx(1e-8 + 1e-6 * row.scale + row.rounding));
  CHECK(row.rounding < 1e-7);
  CHECK(row.analytic.at({0, 2}) == row.worst_analytic);
  CHECK(row.numeric.at({0, 2}) == row.worst_numeric);
  CHECK(row.numeric.at({1, 1}) == Approx(row.analytic.at({1, 1})));
}

TEST_CASE("gradcheck rejects a wrong factor, however near to 1", "[gradcheck]") {
  const auto scaled = [](double factor) {
    return gradcheck([factor](const Tensor& x) { return square(x, factor); }, {normals({5})});
  };
  CHECK(scaled(1.0));
  CHECK_FALSE(scaled(1.01));
  CHECK_FALSE(scaled(1.00001));
  CHECK(scaled(std::sqrt(8.0)).inputs[0].worst_analytic ==
        Approx(std::sqrt(8.0) * scaled(std::sqrt(8.0)).inputs[0].worst_numeric));
}

TEST_CASE("gradcheck rejects the gradient of one use out of two", "[gradcheck]") {
  const auto wrong = [](const Tensor& x) {
    return product_with(x, x, [](const Vjp&) { return Tensor(); });
  };
  const GradcheckReport report = gradcheck(wrong, {normals({2, 3})});
  CHECK_FALSE(report);
  CHECK(report.inputs[0].wrong == 6);
  CHECK(2 * report.inputs[0].worst_analytic == Approx(report.inputs[0].worst_numeric));
}

TEST_CASE("gradcheck rejects a softmax that lost its row sum", "[gradcheck]") {
  const auto wrong = made_of([](const Tensor& x) { return softmax(x, -1); },
                             [](const Vjp& v) { return v.output() * v.grad(); });
  const auto right = made_of([](const Tensor& x) { return softmax(x, -1); },
                             [](const Vjp& v) {
                               const Tensor y = v.output();
                               return y * (v.grad() - sum(v.grad() * y, {-1}, true));
                             });
  CHECK_FALSE(gradcheck(wrong, {normals({3, 4})}));
  CHECK(gradcheck(right, {normals({3, 4})}));
}

TEST_CASE("gradcheck rejects a transposed gradient", "[gradcheck]") {
  const auto product = [](bool transposed) {
    return [transposed](const Tensor& q, const Tensor& k) {
      return record(
          "product", untaped([&] { return matmul(q, k); }), {q, k}, Saves::inputs,
          [](const Vjp& v) { return matmul(v.grad(), v.input(1).transpose(0, 1)); },
          [transposed](const Vjp& v) {
            const Tensor dk = matmul(v.input(0).transpose(0, 1), v.grad());
            return transposed ? dk.transpose(0, 1) : dk;
          });
    };
  };
  const std::vector<Tensor> inputs{normals({3, 3}), normals({3, 3}, 2)};
  CHECK(gradcheck(product(false), inputs));
  const GradcheckReport report = gradcheck(product(true), inputs, {.names = {"q", "k"}});
  CHECK_FALSE(report);
  CHECK(report.inputs[0].passed);
  CHECK(report.inputs[1].wrong == 6);
  CHECK_THAT(printed(report), ContainsSubstring("  k[") && ContainsSubstring("], input 1\n"));
}

TEST_CASE("a rule that is wrong to second order only passes the first and fails the second",
          "[gradcheck]") {
  const auto with_factor = [](double factor) {
    return [factor](const Tensor& x) {
      return record(
          "square", untaped([&] { return x * x; }), {x}, Saves::input0, [factor](const Vjp& v) {
            return product_with(v.grad() * 2.0, v.input(0),
                                [factor](const Vjp& w) { return w.grad() * w.input(0) * factor; });
          });
    };
  };
  const std::vector<Tensor> inputs{normals({4})};
  CHECK(gradcheck(with_factor(1.0), inputs, {.order = 2}));
  CHECK(gradgradcheck(with_factor(1.0), inputs));
  CHECK(gradcheck(with_factor(-1.0), inputs));
  CHECK_FALSE(gradgradcheck(with_factor(-1.0), inputs));

  const GradcheckReport report = gradcheck(with_factor(-1.0), inputs, {.order = 2});
  CHECK_FALSE(report);
  REQUIRE(report.inputs.size() == 3);
  CHECK(report.inputs[0].order == 1);
  CHECK(report.inputs[0].passed);
  CHECK(report.inputs[1].order == 2);
  CHECK_FALSE(report.inputs[1].passed);
  CHECK(report.inputs[2].name == "grad_output");
  CHECK(report.inputs[2].passed);
  CHECK_THAT(printed(report), ContainsSubstring(", second order\n"));
}

TEST_CASE("gradgradcheck finds what a rule lost on the way from the cotangent", "[gradcheck]") {
  const auto cut = made_of([](const Tensor& x) { return x * x; },
                           [](const Vjp& v) { return v.grad().detach() * v.input(0) * 2.0; });
  const GradcheckReport report = gradgradcheck(cut, {normals({4})});
  CHECK_FALSE(report);
  CHECK(report.inputs[0].passed);
  CHECK_FALSE(report.inputs[1].passed);
  CHECK_THAT(report.inputs[1].note, ContainsSubstring("not on the tape"));
}

TEST_CASE("gradgradcheck gives rules gradients with gaps in memory", "[gradcheck]") {
  const auto ignores_strides = made_of(
      [](const Tensor& x) { return x * x; },
      [](const Vjp& v) {
        const Tensor& g = v.grad();
        const Tensor same = g.alias(g.shape(), contiguous_strides(g.shape()), g.impl().offset);
        return v.input(0) * 2.0 *
               record("same", same, {g}, Saves::nothing, [](const Vjp& w) { return w.grad(); });
      });
  CHECK(gradcheck(ignores_strides, {normals({2, 2})}));
  const GradcheckReport report = gradgradcheck(ignores_strides, {normals({2, 2})});
  CHECK_FALSE(report);
  CHECK_THAT(report.failures.at(0), ContainsSubstring("the gradient function returned NaN"));
}

TEST_CASE("a second order is not looked at where the first is wrong", "[gradcheck]") {
  const GradcheckReport report =
      gradcheck([](const Tensor& x) { return square(x, 3.0); }, {normals({2})}, {.order = 2});
  CHECK_FALSE(report);
  CHECK(report.inputs.size() == 1);
}

TEST_CASE("gradcheck says where no gradient arrives", "[gradcheck]") {
  const Tensor x = normals({2});
  SECTION("detached") {
    const GradcheckReport report = gradcheck(
        [](const Tensor& a, const Tensor& b) { return a * b.detach(); }, {x, normals({2}, 2)});
    CHECK_FALSE(report);
    CHECK(report.inputs[0].passed);
    CHECK_THAT(report.inputs[1].note, ContainsSubstring("not on the tape of any output"));
  }
  SECTION("dropped by a rule") {
    const auto wrong =
        made_of([](const Tensor& a) { return a * a; }, [](const Vjp&) { return Tensor(); });
    const GradcheckReport report = gradcheck(wrong, {x});
    CHECK_FALSE(report);
    CHECK(report.inputs[0].note == "no gradient arrives here");
    CHECK_THAT(printed(report), ContainsSubstring("    note      no gradient arrives here\n"));
  }
  SECTION("an unused input needs none") {
    const GradcheckReport report =
        gradcheck([](const Tensor& a, const Tensor&) { return a * a; }, {x, normals({2}, 2)});
    CHECK(report);
    CHECK(report.inputs[1].note == "all zero, as it must");
  }
}

// ---- right rules ----

TEST_CASE("gradcheck accepts right rules", "[gradcheck]") {
  const Tensor x = normals({2, 3, 4});
  CHECK_GRADIENTS(matmul, {normals({2, 3}), normals({3, 5}, 2)}, {.order = 2});
  CHECK_GRADIENTS(matmul, {x, normals({4, 2}, 2)}, {.order = 2});
  CHECK_GRADIENTS([](const Tensor& a) { return softmax(a, 1); }, {x}, {.order = 2});
  CHECK_GRADIENTS([](const auto& a) { return log_softmax(a, -1); }, {x}, {.order = 2});
  CHECK_GRADIENTS([](Tensor a, Tensor b) { return a * b + a / (b * b + 1.0); },
                  {normals({3, 1}), normals({2, 1, 4}, 2)}, {.order = 2});
  CHECK_GRADIENTS(
      [](const Tensor& a, const Tensor& w, const Tensor& b) { return layer_norm(a, {4}, w, b); },
      {x, normals({4}, 2), normals({4}, 3)}, {.order = 2});
  CHECK_GRADIENTS([](const Tensor& a) { return a.expand({3, 2}); }, {normals({2})});
  CHECK_GRADIENTS([](const Tensor& a) { return a; }, {x}, {.order = 2});
  CHECK_GRADIENTS([](const Tensor& a) { return a * 3.0; }, {tensor(2.0, float64)}, {.order = 2});
  CHECK_SECOND_GRADIENTS([](const Tensor& a) { return exp(a) * tanh(a); }, {x});
  // The slopes of two step sizes are far apart here, and what is extrapolated from them is right.
  const GradcheckReport steep =
      gradcheck([](const Tensor& a) { return log(a); }, {tensor({0.001, 1}, float64)});
  CHECK(steep);
  CHECK(steep.inputs[0].worst_uncertainty > 0.01);
}

TEST_CASE("CHECK_GRADIENTS fails where gradcheck does", "[gradcheck][!shouldfail]") {
  CHECK_GRADIENTS([](const Tensor& x) { return square(x, 2.0); }, {normals({2})});
}
TEST_CASE("CHECK_SECOND_GRADIENTS fails where gradgradcheck does", "[gradcheck][!shouldfail]") {
  const auto cut = made_of([](const Tensor& x) { return x * x; },
                           [](const Vjp& v) { return v.grad() * v.input(0).detach() * 2.0; });
  CHECK_SECOND_GRADIENTS(cut, {normals({2})});
}

TEST_CASE("gradcheck takes a vector of tensors, and functions of many outputs", "[gradcheck]") {
  const Tensor x = normals({3});
  const Tensor y = normals({3}, 2);
  const auto outputs = [](double factor) {
    return [factor](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{in[0] * in[1], square(in[1], factor), tensor({1, 2}, float64),
                                 gt(in[0], 0.0)};
    };
  };
  CHECK_GRADIENTS(outputs(1.0), {x, y}, {.order = 2});
  CHECK_GRADIENTS([](const std::vector<Tensor>& in) { return in[0] * in[1]; }, {x, y});

  const GradcheckReport report = gradcheck(outputs(-1.0), {x, y});
  CHECK(report.inputs[0].passed);
  CHECK_FALSE(report.inputs[1].passed);
}

TEST_CASE("the slope of an output that claims to be constant must be 0", "[gradcheck]") {
  const auto function = [](const Tensor& x) { return std::vector<Tensor>{x * x, x.detach()}; };
  CHECK_FALSE(gradcheck(function, {normals({3})}));
}

TEST_CASE("gradcheck keeps the strides of its inputs", "[gradcheck]") {
  const Tensor x = normals({4, 6}).slice(1, 1, 6, 2).transpose(0, 1);
  const auto function = [&](const Tensor& a) {
    CHECK(a.strides() == x.strides());
    CHECK_FALSE(a.is_contiguous());
    CHECK(a.impl().offset == 1);
    CHECK(std::isnan(a.data<double>()[1]));
    return softmax(a, 0);
  };
  CHECK_GRADIENTS(function, {x});

  const auto ignores_strides = made_of(
      [](const Tensor& a) { return a.alias(a.shape(), contiguous_strides(a.shape()), 1) * 2.0; },
      [](const Vjp& v) { return v.grad() * 2.0; });
  const GradcheckReport report = gradcheck(ignores_strides, {x});
  CHECK_FALSE(report);
  CHECK_THAT(report.failures.at(0), ContainsSubstring("the function returned NaN"));
}

TEST_CASE("gradcheck hands integers, bools and nothing on", "[gradcheck]") {
  const Tensor indices = tensor({2, 0, 2}, int64);
  const GradcheckReport report = gradcheck(
      [](const std::vector<Tensor>& in) {
        CHECK_FALSE(in[3].defined());
        return masked_fill(embedding(in[0], in[1]), in[2], 0.5);
      },
      {indices, normals({3, 2}), tensor({{1, 0}, {0, 0}, {0, 1}}, boolean), Tensor()},
      {.order = 2});
  CHECK(report);
  REQUIRE(report.inputs.size() == 9);
  CHECK(report.inputs[0].note == "not checked: int64");
  CHECK(report.inputs[1].checked == 6);
  CHECK(report.inputs[2].note == "not checked: bool");
  CHECK(report.inputs[3].note == "not checked: undefined");
}

TEST_CASE("gradcheck takes tensors without elements", "[gradcheck]") {
  const GradcheckReport report =
      gradcheck([](const Tensor& x) { return x * 2.0; }, {zeros({0, 3}, float64)}, {.order = 2});
  CHECK(report);
  CHECK(report.inputs[0].checked == 0);
  CHECK(report.inputs[0].note == "no elements");

  // No output has an element, so no slope is to be expected.
  CHECK_GRADIENTS([](const Tensor& x) { return x.slice(0, 0, 0); }, {normals({3})}, {.order = 2});
  CHECK_GRADIENTS(matmul, {zeros({0, 3}, float64), normals({3, 2})}, {.order = 2});
  // An inner size of 0 gives zeros, which change with nothing.
  CHECK_GRADIENTS(
      [](const Tensor& x, const Tensor& y, const Tensor& z) { return matmul(x, y) + z; },
      {zeros({2, 0}, float64), zeros({0, 3}, float64), normals({2, 3})});
}

TEST_CASE("infinities that stay where they are do no harm", "[gradcheck]") {
  const Tensor scores = tensor({{1, -infinity, 2}, {0.5, 1, -infinity}}, float64);
  CHECK_GRADIENTS([](const Tensor& x) { return softmax(x, -1); }, {scores});
  const Tensor mask = tensor({{0, 1, 0}, {0, 0, 1}}, boolean);
  CHECK_GRADIENTS([&](const Tensor& x) { return masked_fill(x, mask, -infinity); },
                  {normals({2, 3})});
}

// ---- what makes a check worthless ----

TEST_CASE("NaN and infinity fail", "[gradcheck]") {
  SECTION("in the gradient") {
    for (const double bad : {not_a_number, infinity, -infinity}) {
      CAPTURE(bad);
      const auto wrong = made_of([](const Tensor& x) { return x * 2.0; },
                                 [bad](const Vjp& v) {
                                   return v.grad() * tensor({2, bad, 2}, float64);
                                 });
      const GradcheckReport report = gradcheck(wrong, {normals({3})}, {.rtol = 0.5});
      CHECK_FALSE(report);
      CHECK(report.inputs[0].wrong == 1);
      CHECK(report.inputs[0].worst == Shape{1});
      CHECK(report.inputs[0].note == "not finite");
      CHECK_THAT(printed(report), ContainsSubstring("error     nan"));
    }
  }
  SECTION("in the slope") {
    const GradcheckReport report =
        gradcheck([](const Tensor& x) { return sqrt(x); }, {tensor({1, 0}, float64)});
    CHECK_FALSE(report);
    CHECK(report.inputs[0].worst == Shape{1});
    CHECK(std::isnan(report.inputs[0].worst_numeric));
  }
  SECTION("in the slope of one side only") {
    const auto function = made_of([](const Tensor& x) { return sqrt(1.0 - x); },
                                  [](const Vjp& v) {
                                    return v.grad() * tensor({-300, -0.5}, float64);
                                  });
    const GradcheckReport report = gradcheck(function, {tensor({1, 0}, float64)});
    CHECK_FALSE(report);
    CHECK(report.inputs[0].wrong == 1);
    CHECK(report.inputs[0].worst == Shape{0});
  }
  SECTION("in an output") {
    const GradcheckReport report = gradcheck(
        [](const Tensor& x) {
          return std::vector<Tensor>{x, log(x)};
        },
        {tensor({1, -1}, float64)});
    CHECK_FALSE(report);
    REQUIRE(report.failures.size() == 1);
    CHECK(report.failures[0] ==
          "the function returned NaN\n"
          "  got    1 of 4 numbers, first at output 1 [1]");
  }
}

TEST_CASE("gradcheck names a function that is not deterministic", "[gradcheck]") {
  const Tensor x = ones({4, 4}, float64);
  manual_seed(5);
  SECTION("dropout left on") {
    const GradcheckReport report = gradcheck([](const Tensor& a) { return dropout(a, 0.5); }, {x});
    CHECK_FALSE(report);
    REQUIRE(report.failures.size() == 1);
    CHECK_THAT(
        report.failures[0],
        ContainsSubstring("the function is not deterministic\n"
                          "  got    two calls on the same inputs differ by 2 at output 0 [") &&
            ContainsSubstring("\n  hint   is dropout on? eval() or fix the seed"));
    CHECK_FALSE(report.bit_identical);
  }
  SECTION("dropout with its seed fixed, or off") {
    CHECK_GRADIENTS([](const Tensor& a) { return dropout_with_key(a, 0.5, 7); }, {x});
    CHECK_GRADIENTS([](const Tensor& a) { return dropout(a, 0.5, false); }, {x});
    CHECK_GRADIENTS(
        [](const Tensor& a) {
          manual_seed(1);
          return dropout(a, 0.5);
        },
        {x});
  }
  SECTION("only backward differs, by one bit") {
    int calls = 0;
    const auto shaky = made_of([](const Tensor& a) { return a * 2.0; },
                               [&calls](const Vjp& v) {
                                 return v.grad() * (++calls > 1 ? std::nextafter(2.0, 3.0) : 2.0);
                               });
    const GradcheckReport report = gradcheck(shaky, {x}, {.names = {"x"}});
    CHECK_FALSE(report);
    CHECK_THAT(report.failures.at(0),
               ContainsSubstring("backward of the function is not deterministic\n"
                                 "  got    two runs on the same inputs differ by ") &&
                   ContainsSubstring(" at x["));
    CHECK_FALSE(report.bit_identical);
    CHECK(report.inputs.empty());
    CHECK(gradcheck(shaky, {x}, {.check_determinism = false}));
  }
  SECTION("to second order only") {
    int calls = 0;
    const auto shaky =
        made_of([](const Tensor& a) { return a * 2.0; },
                [&calls](const Vjp& v) {
                  return v.grad() * (++calls > 3 && calls % 2 == 0 ? 2.0 + 1e-15 : 2.0);
                });
    const GradcheckReport report = gradcheck(shaky, {x}, {.order = 2});
    CHECK_FALSE(report);
    CHECK_THAT(report.failures.at(0),
               ContainsSubstring("the gradient function is not deterministic"));
  }
}

TEST_CASE("a check that zero gradients would pass fails", "[gradcheck]") {
  const Tensor x = normals({2, 3});
  const auto sum_of_softmax = [](const Tensor& a) { return softmax(a, -1).sum(); };
  const auto sum_of_norm = [](const Tensor& a) { return layer_norm(a, {3}).sum(); };
  const GradcheckReport report = gradcheck(sum_of_softmax, {x});
  CHECK_FALSE(report);
  CHECK(report.inputs[0].passed);
  CHECK(report.failures ==
        std::vector<std::string>{
            "the check is vacuous: gradients of zero would pass, too\n"
            "  got    the function has no slope in 6 elements, and a kink in 0\n"
            "  hint   return the tensor itself, not its sum: the weights are random"});
  CHECK_FALSE(gradcheck(sum_of_norm, {x}));
  CHECK_FALSE(gradgradcheck(sum_of_softmax, {x}));
  CHECK_FALSE(gradcheck([](const Tensor& a) { return a * 2.0; }, {x}, {.rtol = 1.0}));
  CHECK_FALSE(gradcheck([](const Tensor& a) { return a * 1e-9; }, {x}));
  CHECK(gradcheck([](const Tensor& a) { return a * 1e-9; }, {x}, {.atol = 1e-16}));
}

TEST_CASE("one input may have gradient 0, as a key bias has", "[gradcheck]") {
  const auto scores = [](const Tensor& q, const Tensor& k, const Tensor& bias) {
    return softmax(matmul(q, (k + bias).transpose(0, 1)), -1);
  };
  const GradcheckReport report =
      gradcheck(scores, {normals({2, 3}), normals({4, 3}, 2), normals({3}, 3)});
  CHECK(report);
  CHECK(report.inputs[0].note.empty());
  CHECK(report.inputs[2].note == "all zero, as it must");
}

TEST_CASE("the rounding of large outputs is not held against a rule", "[gradcheck]") {
  const auto shifted = [](double factor) {
    return made_of([](const Tensor& x) { return x * 2.0 + 1e6; },
                   [factor](const Vjp& v) { return v.grad() * 2.0 * factor; });
  };
  const GradcheckReport report = gradcheck(shifted(1.0), {normals({20})});
  CHECK(report);
  CHECK(report.inputs[0].max_abs_error > report.atol + report.rtol * report.inputs[0].scale);
  CHECK(report.inputs[0].kinks == 0);
  CHECK_FALSE(gradcheck(shifted(1.1), {normals({20})}));
}

TEST_CASE("at a kink gradcheck takes any slope between the two sides", "[gradcheck]") {
  const Tensor x = tensor({0, 1, -1}, float64);
  const auto relu_with = [](double at_zero) {
    return made_of([](const Tensor& a) { return relu(a); },
                   [at_zero](const Vjp& v) {
                     return v.grad() * tensor({at_zero, 1, 0}, float64);
                   });
  };
  for (const double slope : {0.0, 0.5, 0.9, 1.0}) CHECK_GRADIENTS(relu_with(slope), {x});
  for (const double slope : {-0.01, 1.01, 2.0}) CHECK_FALSE(gradcheck(relu_with(slope), {x}));
  CHECK(gradcheck(relu_with(0.0), {x}).inputs[0].kinks == 1);
  CHECK(gradcheck(relu_with(0.0), {x}).inputs[0].max_abs_error < 1e-9);
  CHECK(gradcheck(relu_with(0.0), {x}).inputs[0].note == "1 at a kink");
  CHECK(gradcheck(relu_with(2.0), {x}).inputs[0].worst == Shape{0});
  CHECK_THAT(gradcheck(relu_with(2.0), {x}).inputs[0].note,
             ContainsSubstring("not smooth here: slopes from "));

  CHECK_GRADIENTS([](const Tensor& a) { return relu(a); }, {x}, {.order = 2});
  CHECK_GRADIENTS([](const Tensor& a) { return amax(a, {1}); },
                  {tensor({{2, 2, 1}, {1, 3, 2}}, float64)});
  // Within a step of the kink, but not at it.
  CHECK_GRADIENTS([](const Tensor& a) { return relu(a); },
                  {tensor({1e-6, 4e-6, 9e-6, 1}, float64)});

  const GradcheckReport nothing_but =
      gradcheck([](const Tensor& a) { return relu(a); }, {zeros({2}, float64)});
  CHECK_FALSE(nothing_but);
  CHECK_THAT(nothing_but.failures.at(0),
             ContainsSubstring("no slope in 0 elements, and a kink in 2") &&
                 ContainsSubstring("move the inputs away from the kink"));
}

TEST_CASE("curvature is no kink", "[gradcheck]") {
  // The slopes on the two sides differ by 6 %: a wrong factor of 1.01 lies between them.
  const auto wrong = made_of([](const Tensor& x) { return exp(x * 10000.0); },
                             [](const Vjp& v) { return v.grad() * v.output() * 10000.0 * 1.01; });
  const auto function = [&](const Tensor& x, const Tensor& y) { return wrong(x) + y; };
  const GradcheckReport report =
      gradcheck(function, {zeros({1}, float64), zeros({1}, float64)}, {.rtol = 1e-4});
  CHECK(report.inputs[0].wrong == 1);
  CHECK(report.inputs[0].kinks == 0);
  CHECK(report.inputs[1].passed);
}

TEST_CASE("frozen elements have gradient 0 whatever the slope", "[gradcheck]") {
  const Tensor indices = tensor({0, 1, 0}, int64);
  const Tensor table = normals({3, 1});
  const Tensor row0 = tensor({{1}, {0}, {0}}, boolean);
  const auto padded = [&](const Tensor& w) { return embedding(indices, w, 0); };
  const auto plain = [&](const Tensor& w) { return embedding(indices, w); };
  CHECK_FALSE(gradcheck(padded, {table}));
  CHECK_GRADIENTS(padded, {table}, {.order = 2, .frozen = {row0}});
  CHECK(gradcheck(padded, {table}, {.frozen = {row0}}).inputs[0].checked == 2);
  CHECK(gradcheck(padded, {table}, {.frozen = {row0}}).inputs[0].note == "1 frozen");
  CHECK(gradcheck(plain, {table}, {.frozen = {Tensor()}}));
  const GradcheckReport report = gradcheck(plain, {table}, {.frozen = {row0}});
  CHECK_FALSE(report);
  CHECK(report.inputs[0].worst == Shape{0, 0});
  CHECK_FALSE(gradcheck([](const Tensor& w) { return w.detach(); }, {table},
                        {.frozen = {ones({3, 1}, boolean)}}));
  CHECK_THROWS_WITH(gradcheck(plain, {table}, {.frozen = {indices}}),
                    "gradcheck: the frozen mask does not fit input 0\n"
                    "  got    mask (3,) int64\n"
                    "  need   (3, 1) bool");
}

// ---- refusals ----

TEST_CASE("gradcheck refuses float32", "[gradcheck]") {
  const Tensor x = normals({2, 3});
  CHECK_THROWS_AS(gradcheck(neg, {x, x.to(float32)}), DTypeError);
  CHECK_THROWS_WITH(gradcheck(matmul, {x, x.to(float32)}),
                    "gradcheck: input 1 is float32, too coarse for differences\n"
                    "  got    input 1 (2, 3) float32\n"
                    "  need   float64: float32 rounds a step of 6e-6 away\n"
                    "  hint   x.to(float64), and model.to(float64) for a layer");
  CHECK_THROWS_WITH(gradcheck([](const Tensor& a) { return a.to(float32); }, {x}),
                    ContainsSubstring("gradcheck: output 0 is float32"));
  CHECK_THROWS_WITH(gradcheck([](const Tensor& a) { return a.to(float32).to(float64); }, {x}),
                    "gradcheck: the function computes in float32 on the way\n"
                    "  got    step to (2, 3) float32\n"
                    "  hint   compute in float64 throughout: model.to(float64)");
}

TEST_CASE("gradcheck refuses an input that overlaps itself", "[gradcheck]") {
  const auto identity = [](const Tensor& x) { return x; };
  const Tensor x = normals({1});
  CHECK_THROWS_AS(gradcheck(identity, {x.expand({3})}), ValueError);
  CHECK_THROWS_WITH(gradcheck(identity, {x.expand({3})}, {.names = {"x"}}),
                    "gradcheck: x overlaps itself: moving one element moves others\n"
                    "  got    (3,) with strides (0,)\n"
                    "  hint   clone() it, or expand() it inside the function");
  CHECK_THROWS_AS(gradcheck(identity, {normals({5}).alias({3, 3}, {1, 1}, 0)}), ValueError);
  CHECK(gradcheck(identity, {x.expand({3}).clone()}));
  CHECK(gradcheck(identity, {x.expand({1, 1})}));
}

TEST_CASE("gradcheck refuses what cannot be checked", "[gradcheck]") {
  const Tensor x = normals({2});
  const auto identity = [](const Tensor& a) { return a; };
  CHECK_THROWS_WITH(gradcheck(identity, {tensor({1, 2}, int64)}),
                    ContainsSubstring("gradcheck: nothing to check"));
  CHECK_THROWS_WITH(gradcheck([](const Tensor& a) { return gt(a, 0.0); }, {x}),
                    "gradcheck: the function returned no floating tensor");
  CHECK_THROWS_WITH(gradcheck(matmul, {x}), "gradcheck: the function takes 2 tensors, 1 are given");
  CHECK_THROWS_WITH(gradcheck(identity, {x}, {.order = 3}),
                    "gradcheck: order 3 is neither 1 nor 2");
  CHECK_THROWS_WITH(gradcheck(identity, {x}, {.names = {"x", "y"}}),
                    "gradcheck: 2 names for 1 inputs");
  CHECK_THROWS_WITH(gradcheck(identity, {x}, {.frozen = {Tensor(), Tensor()}}),
                    ContainsSubstring("gradcheck: 2 frozen masks for 1 inputs"));
  CHECK_THROWS_WITH(gradcheck(identity, {x}, {.step = -1.0}),
                    "gradcheck: step -1 is not a number from 0 up");
  CHECK_THROWS_AS(gradcheck(identity, {x}, {.rtol = not_a_number}), ValueError);
  CHECK_THROWS_AS(gradcheck(identity, {x}, {.atol = infinity}), ValueError);
  Index calls = 0;
  const auto grows = [&](const Tensor& a) { return a.expand({++calls, 2}); };
  CHECK_THROWS_WITH(gradcheck(grows, {x}), ContainsSubstring("outputs change in shape"));
}

// ---- its inputs and its surroundings ----

TEST_CASE("the same tensor twice is two inputs", "[gradcheck]") {
  const Tensor x = normals({3});
  const auto product = [](const Tensor& a, const Tensor& b) { return a * exp(b); };
  const GradcheckReport report = gradcheck(product, {x, x}, {.names = {"a", "b"}});
  CHECK(report);
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0] ==
        "b is the same tensor as a: each was moved by itself;\n"
        "      the derivative of f(x, x) is the sum of the two gradients");
  CHECK(gradcheck(product, {x, x.clone()}).remarks.empty());

  // The derivative of f(x, x), by a function of one tensor, is indeed that sum.
  const GradcheckReport single = gradcheck([](const Tensor& a) { return a * exp(a); }, {x});
  CHECK(allclose(single.inputs[0].analytic, report.inputs[0].analytic + report.inputs[1].analytic));

  // Exchanged gradients have the right sum, and are wrong all the same.
  const auto exchanged = [](const Tensor& a, const Tensor& b) {
    return record(
        "exchanged", untaped([&] { return a * exp(b); }), {a, b}, Saves::inputs,
        [](const Vjp& v) { return v.grad() * v.input(0) * exp(v.input(1)); },
        [](const Vjp& v) { return v.grad() * exp(v.input(1)); });
  };
  CHECK_FALSE(gradcheck(exchanged, {x, x}));
}

TEST_CASE("gradcheck leaves everything as it was", "[gradcheck]") {
  Tensor x = normals({2, 2}).requires_grad_();
  const std::vector<double> before = x.to_vector<double>();
  const auto version = x.impl().storage->version();
  manual_seed(3);
  const std::string stream = default_generator().state();

  CHECK_GRADIENTS(matmul, {x, x.transpose(0, 1)}, {.order = 2});
  CHECK_FALSE(gradcheck([](const Tensor& a) { return dropout(a, 0.5); }, {x}));
  CHECK_THROWS(gradcheck(
      [](const Tensor& a) -> Tensor {
        rand({3});
        return a.view({5});
      },
      {x}));

  CHECK(default_generator().state() == stream);
  CHECK(x.to_vector<double>() == before);
  CHECK_FALSE(x.grad().defined());
  CHECK(x.impl().storage->version() == version);
  CHECK(grad_enabled());
}

TEST_CASE("gradcheck works in a NoGrad scope, and does not end it", "[gradcheck]") {
  const NoGrad no_grad;
  CHECK_GRADIENTS(matmul, {normals({2, 2}), normals({2, 2}, 2)}, {.order = 2});
  CHECK_FALSE(grad_enabled());
}

TEST_CASE("the seed decides the cotangents", "[gradcheck]") {
  const auto analytic = [](std::uint64_t seed) {
    const auto identity = [](const Tensor& x) { return x; };
    return gradcheck(identity, {zeros({50}, float64)}, {.seed = seed})
        .inputs[0]
        .analytic.to_vector<double>();
  };
  CHECK(analytic(1) == analytic(1));
  CHECK(analytic(1) != analytic(2));
  const std::vector<double> cotangent = analytic(1);
  Index negative = 0;
  for (const double number : cotangent) {
    CHECK(std::abs(number) >= 0.5);
    CHECK(std::abs(number) <= 1.5);
    if (number < 0) ++negative;
  }
  CHECK(negative > 10);
  CHECK(negative < 40);
}

TEST_CASE("the step can be chosen", "[gradcheck]") {
  std::vector<double> seen;
  const auto watched = [&](const Tensor& x) {
    seen.push_back(x.item());
    return x * 2.0;
  };
  CHECK(gradcheck(watched, {tensor(1.0, float64)}, {.step = 0.25}).evaluations == 6);
  CHECK(seen == std::vector<double>{1, 1, 0.5, 0.75, 1.25, 1.5});
  seen.clear();
  CHECK(gradcheck(watched, {tensor(-100.0, float64)}, {.check_determinism = false}));
  REQUIRE(seen.size() == 5);
  CHECK(seen[1] == Approx(-100.0 - 2 * 6e-4).epsilon(1e-12));
  CHECK(seen[4] == Approx(-100.0 + 2 * 6e-4).epsilon(1e-12));
}

// ---- the text ----

TEST_CASE("the report of a check that passes", "[gradcheck]") {
  const auto function = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0] * 2.0, in[1]};
  };
  const GradcheckReport report = gradcheck(
      function,
      {zeros({2, 3}, float64), tensor(0.0, float64), zeros({2}, float64), tensor({1, 2}, int64)},
      {.names = {"query", "scale", "unused", "ids"}, .order = 2});
  CHECK(printed(report) == R"(gradcheck  float64, seed 1, random cotangents
method     central differences, h 6e-06*max(1,|x|) and 2h, extrapolated
work       25 elements, 105 evaluations; 2 backward runs bit-identical
 tensor         shape   checked  max abs  max rel  worst element         verdict
 query          (2, 3)        6  0.0e+00  0.0e+00  query[0, 0]           ok
 scale          ()            1  0.0e+00  0.0e+00  scale                 ok
 unused         (2,)          2  0.0e+00        -  all zero, as it must  ok
 ids            (2,)          -        -        -  not checked: int64    -
 second order: the gradients' own gradients
 query          (2, 3)        6  0.0e+00        -  all zero, as it must  ok
 scale          ()            1  0.0e+00        -  all zero, as it must  ok
 unused         (2,)          2  0.0e+00        -  all zero, as it must  ok
 ids            (2,)          -        -        -  not checked: int64    -
 grad_output 0  (2, 3)        6  0.0e+00  0.0e+00  grad_output 0 [0, 0]  ok
 grad_output 1  ()            1  0.0e+00  0.0e+00  grad_output 1         ok
PASS  worst 0.0e+00 (limit rtol 1e-06, atol 1e-08)
)");
}

TEST_CASE("the report of a check that fails", "[gradcheck]") {
  const Tensor x = tensor({{1, 1, 1}, {1, 1, 1}}, float64);
  const Tensor signs = tensor({{1, 1, -1}, {1, 1, 1}}, float64);
  const auto wrong = [&](const Tensor& a, const Tensor& b) {
    return product_with(a, b, [&](const Vjp& v) { return v.grad() * v.input(0) * signs; });
  };
  CHECK(printed(gradcheck(wrong, {x, x}, {.step = 0.125})) ==
        R"(gradcheck  float64, seed 1, random cotangents
method     central differences, h 0.125 and 2h, extrapolated
work       12 elements, 50 evaluations; 2 backward runs bit-identical
 tensor   shape   checked  max abs  max rel  worst element   verdict
 input 0  (2, 3)        6  0.0e+00  0.0e+00  input 0 [0, 0]  ok
 input 1  (2, 3)        6  2.1e+00  1.5e+00  input 1 [0, 2]  FAIL
note  input 1 is the same tensor as input 0: each was moved by itself;
      the derivative of f(x, x) is the sum of the two gradients
FAIL  1 of 2 tensors
  input 1 [0, 2]
    analytic  +1.03149   numeric  -1.03149 +- 0.0e+00   ratio  -1
    error     2.1e+00, relative 1.5e+00
    limit     1.4e-06 = atol 1e-08 + rtol 1e-06 * 1.4e+00 + rounding 3.1e-13
    wrong     1 of 6 elements
)");
}

TEST_CASE("gradcheck passes where a function only bends differently on the two sides") {
  const auto bent = [](const Tensor& x) { return x * abs(x); };
  CHECK(gradcheck(bent, {tensor({0, 0.3}, float64)}));
  const auto cubic = [](const Tensor& x) { return norm(x, 3, {1}); };
  CHECK(gradcheck(cubic, {tensor({{1, -2, 0}, {3, 4, 5}}, float64)}, {.order = 2}));
  const auto wrong = [](const Tensor& x) {
    return record("bent", (x * abs(x)).detach(), {x}, Saves::input0,
                  [](const Vjp& v) { return v.grad() * (abs(v.input(0)) * 2.0 + 1e-3); });
  };
  CHECK_FALSE(gradcheck(wrong, {tensor({0, 0.3}, float64)}));
}
