#include "framework/ops/unary.h"

#include <numbers>

#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
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

// y = |x|;  dx = g sign(x)
Tensor abs(const Tensor& x) {
  if (x.dtype() == int64) return launch::unary(Unary::abs, x);
  return record("abs", apply("abs", Unary::abs, x), {x}, Saves::input0,
                [](const Vjp& v) { return v.grad() * sign(v.input(0)); });
}

Tensor sign(const Tensor& x) { return apply("sign", Unary::sign, x); }
Tensor floor(const Tensor& x) { return apply("floor", Unary::floor, x); }
Tensor ceil(const Tensor& x) { return apply("ceil", Unary::ceil, x); }

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

Tensor reciprocal(const Tensor& x) {
  check_floating("reciprocal", x);
  return 1.0 / x;
}
Tensor rsqrt(const Tensor& x) {
  check_floating("rsqrt", x);
  return 1.0 / sqrt(x);
}
Tensor square(const Tensor& x) { return x * x; }

// y = x^c;  dx = g c x^(c-1)
Tensor pow(const Tensor& x, double exponent) {
  check_floating("pow", x);
  return record("pow", launch::binary(launch::Binary::power, x, exponent), {x}, Saves::input0,
                [exponent](const Vjp& v) {
                  const Tensor x0 = v.input(0);
                  // 0 for NaN and infinity, too, and still a function of x.
                  if (exponent == 0) return masked_fill(x0, full({}, 1, boolean), 0.0);
                  return v.grad() * (pow(x0, exponent - 1) * exponent);
                });
}

// y = a^b;  da = g b a^(b-1), 0 where b = 0;  db = g y log(a), 0 where a = 0
Tensor pow(const Tensor& x, const Tensor& exponent) {
  check_floating("pow", x);
  check_same_dtype("pow", x, exponent);
  const auto [a, b] = broadcast("pow", x, exponent);
  return record(
      "pow", launch::binary(launch::Binary::power, a, b), {a, b}, Saves::inputs,
      [](const Vjp& v) {
        const Tensor power = v.input(1);
        const Tensor lower = masked_fill(power - 1.0, eq(power, 0.0), 0.0);
        return v.grad() * (power * pow(v.input(0), lower));
      },
      [](const Vjp& v) {
        const Tensor base = v.input(0);
        const Tensor above = masked_fill(base, eq(base, 0.0), 1.0);  // whose logarithm is 0
        return v.grad() * (pow(above, v.input(1)) * log(above));
      });
}

// y = min(max(x, lo), hi);  dx = g where lo <= x <= hi, else 0
Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max) {
  if (x.dtype() != int64) check_floating("clamp", x);
  for (const std::optional<double>& bound : {min, max}) {
    if (bound) check_number("clamp", x, *bound);
  }
  Tensor y = x.detach();
  if (min) y = launch::binary(launch::Binary::maximum, y, *min);
  if (max) y = launch::binary(launch::Binary::minimum, y, *max);
  if (!min && !max) y = y.clone();
  return record("clamp", y, {x}, Saves::input0, [min, max](const Vjp& v) {
    const Tensor x0 = v.input(0);
    Tensor dx = v.grad();
    if (min) dx = masked_fill(dx, lt(x0, *min), 0.0);
    if (max) dx = masked_fill(dx, gt(x0, *max), 0.0);
    return dx;
  });
}

// y = x where x > 0, else c x;  dx = g where x > 0, else c g
Tensor leaky_relu(const Tensor& x, double negative_slope) {
  check_floating("leaky_relu", x);
  return where(gt(x, 0.0), x, x * negative_slope);
}

Tensor silu(const Tensor& x) {
  check_floating("silu", x);
  return x * sigmoid(x);
}

// y = log(1 + exp(x));  dx = g sigmoid(x)
Tensor softplus(const Tensor& x, double beta) {
  if (!(beta > 0)) throw ValueError(text("softplus: beta must be above 0, not ", beta));
  if (beta != 1.0) return softplus(x * beta) / beta;
  return record("softplus", apply("softplus", Unary::softplus, x), {x}, Saves::input0,
                [](const Vjp& v) { return v.grad() * sigmoid(v.input(0)); });
}

namespace {

// With P the distribution of a standard normal variable and p its density: y = x P(x) has the slope
// P(x) + x p(x), and that has the slope (2 - x^2) p(x).
Tensor gelu_backward(const Tensor& gradient, const Tensor& x) {
  return record(
      "gelu_backward", launch::binary(launch::Binary::gelu_backward, gradient, x), {gradient, x},
      Saves::inputs, [](const Vjp& v) { return gelu_backward(v.grad(), v.input(1)); },
      [](const Vjp& v) {
        const Tensor square = v.input(1) * v.input(1);
        const Tensor density =
            exp(square * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
        return v.grad() * v.input(0) * (2.0 - square) * density;
      });
}

}  // namespace

// y = x P(x);  dx = g (P(x) + x p(x))
Tensor gelu(const Tensor& x, GeluForm form) {
  check_floating("gelu", x);
  if (form == GeluForm::exact) {
    return record("gelu", launch::unary(Unary::gelu, x), {x}, Saves::input0,
                  [](const Vjp& v) { return gelu_backward(v.grad(), v.input(0)); });
  }
  constexpr double kSqrtTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return x * (tanh((x + x * x * x * 0.044715) * kSqrtTwoOverPi) + 1.0) * 0.5;
}

}  // namespace gradus
