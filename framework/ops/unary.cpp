#include "framework/ops/unary.h"

#include <numbers>

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"

namespace gradus {
namespace {

using launch::Unary;

Tensor apply(const char* op, Unary kernel, const Tensor& x) {
  check_floating(op, x);
  return launch::unary(kernel, x);
}

}  // namespace

// y = exp(x);  dx = g y
Tensor exp(const Tensor& x) {
  return record("exp", apply("exp", Unary::exp, x), {x}, Saves::output,
                [](const Vjp& v) { return v.grad() * v.output(); });
}

// y = log(x);  dx = g / x
Tensor log(const Tensor& x) {
  return record("log", apply("log", Unary::log, x), {x}, Saves::input0,
                [](const Vjp& v) { return v.grad() / v.input(0); });
}

// y = sqrt(x);  dx = g / (2 y)
Tensor sqrt(const Tensor& x) {
  return record("sqrt", apply("sqrt", Unary::sqrt, x), {x}, Saves::output,
                [](const Vjp& v) { return v.grad() / (v.output() * 2.0); });
}

// y = tanh(x);  dx = g (1 - y^2)
Tensor tanh(const Tensor& x) {
  return record("tanh", apply("tanh", Unary::tanh, x), {x}, Saves::output, [](const Vjp& v) {
    const Tensor y = v.output();
    return v.grad() * (1.0 - y * y);
  });
}

// y = 1 / (1 + exp(-x));  dx = g y (1 - y)
Tensor sigmoid(const Tensor& x) {
  return record("sigmoid", apply("sigmoid", Unary::sigmoid, x), {x}, Saves::output,
                [](const Vjp& v) {
                  const Tensor y = v.output();
                  return v.grad() * (y * (1.0 - y));
                });
}

// y = sin(x);  dx = g cos(x)
Tensor sin(const Tensor& x) {
  return record("sin", apply("sin", Unary::sin, x), {x}, Saves::input0,
                [](const Vjp& v) { return v.grad() * cos(v.input(0)); });
}

// y = cos(x);  dx = -g sin(x)
Tensor cos(const Tensor& x) {
  return record("cos", apply("cos", Unary::cos, x), {x}, Saves::input0,
                [](const Vjp& v) { return -(v.grad() * sin(v.input(0))); });
}

// y = |x|;  dx = g where x > 0, -g where x < 0, and 0 at 0
Tensor abs(const Tensor& x) {
  return record("abs", apply("abs", Unary::abs, x), {x}, Saves::input0, [](const Vjp& v) {
    const Tensor x0 = v.input(0);
    const Tensor signed_gradient = where(lt(x0, 0.0), -v.grad(), v.grad());
    return masked_fill(signed_gradient, eq(x0, 0.0), 0.0);
  });
}

// y = max(x, 0);  dx = g where y > 0
Tensor relu(const Tensor& x) {
  return record("relu", apply("relu", Unary::relu, x), {x}, Saves::output,
                [](const Vjp& v) { return masked_fill(v.grad(), le(v.output(), 0.0), 0.0); });
}

// y = erf(x);  dx = g 2 / sqrt(pi) exp(-x^2)
Tensor erf(const Tensor& x) {
  return record("erf", apply("erf", Unary::erf, x), {x}, Saves::input0, [](const Vjp& v) {
    const Tensor x0 = v.input(0);
    return v.grad() * (exp(-(x0 * x0)) * (2.0 * std::numbers::inv_sqrtpi));
  });
}

Tensor gelu(const Tensor& x, GeluForm form) {
  check_floating("gelu", x);
  if (form == GeluForm::exact) return x * (erf(x * (1.0 / std::numbers::sqrt2)) + 1.0) * 0.5;
  constexpr double kSqrtTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return x * (tanh((x + x * x * x * 0.044715) * kSqrtTwoOverPi) + 1.0) * 0.5;
}

}  // namespace gradus
