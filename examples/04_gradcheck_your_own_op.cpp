// Lesson 4: an op with a rule of one's own. The scores of attention, query key^T / sqrt(d_head),
// are added to the framework in ten lines, checked to second order, and then broken on purpose, for
// gradcheck to say what kind of mistake it is.
//
//     before: 03_higher_order    next: 05_linear_regression
#include <gradus/gradus.h>

#include <cmath>
#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kLength = 5;
constexpr Index kHeadWidth = 8;

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

/// The op: what it computes, and the gradient of each input from the gradient of the result. The
/// rules are written with differentiable ops, so that second derivatives need nothing more.
Function scores_with(double forward_scale, double backward_scale) {
  return Function(
      {.name = "scores",
       .forward =
           [=](const Inputs& in) { return matmul(in[0], transposed(in[1])) * forward_scale; },
       .rules = {[=](const Vjp& v) { return matmul(v.grad(), v.input(1)) * backward_scale; },
                 [=](const Vjp& v) {
                   return matmul(transposed(v.grad()), v.input(0)) * backward_scale;
                 }}});
}

/// Attention with these scores: the op among the library's own.
GradcheckReport checked(const Function& scores) {
  manual_seed(1);
  const Tensor query = randn({kLength, kHeadWidth}, float64);
  const Tensor key = randn({kLength, kHeadWidth}, float64);
  const Tensor value = randn({kLength, kHeadWidth}, float64);
  const auto attention = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return matmul(softmax(scores({q, k}), -1), v);
  };
  return gradcheck(attention, {query, key, value},
                   {.names = {"query", "key", "value"}, .order = 2});
}

void show() {
  const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadWidth));
  std::cout << "The rule as it should be:\n\n";
  const GradcheckReport right = checked(scores_with(scale, scale));
  std::cout << right;
  examples::require(right.passed(), "the right rule passes, to second order");

  std::cout << "\nThe same with the scale forgotten in backward:\n\n";
  const GradcheckReport wrong = checked(scores_with(scale, 1.0));
  std::cout << wrong;
  const GradcheckInput& query = wrong.inputs[0];
  examples::require(!wrong.passed() && !query.passed, "the broken rule is rejected");
  examples::require(query.diagnosis.fault == Fault::factor &&
                        std::abs(query.diagnosis.ratio * scale - 1.0) < 1e-6,
                    "the report says that the factor sqrt(d_head) is too much");
  examples::require(wrong.suspects.find("scores") == 0, "and names the op to look at");
  examples::require(wrong.inputs[2].passed, "value, which does not pass there, is right");
}

}  // namespace

int main() { return examples::run(show); }
