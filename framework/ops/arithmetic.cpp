#include "framework/ops/arithmetic.h"

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"

namespace gradus {
namespace {

using launch::Binary;

Pair operands(const char* op, const Tensor& x, const Tensor& other) {
  check_same_dtype(op, x, other);
  if (x.dtype() == boolean) {
    throw DTypeError(
        text(op, ": bool tensors have no arithmetic"),
        {.got = text("x ", described(x), ", other ", described(other)), .hint = "x.to(int64)"});
  }
  return broadcast(op, x, other);
}

/// g where a > b, g / 2 where they are equal, and 0 elsewhere, be g infinite.
Tensor share_of_larger(const Tensor& g, const Tensor& a, const Tensor& b) {
  return masked_fill(where(eq(a, b), g * 0.5, g), logical_not(ge(a, b)), 0.0);
}

void check_operand(const char* op, const Tensor& x, double number) {
  check_not_bool(op, x);
  check_number(op, x, number);
}

}  // namespace

Pair broadcast(const char* op, const Tensor& x, const Tensor& other) {
  if (x.shape() == other.shape()) return {x, other};
  const Shape shape = broadcast_shape(op, x.shape(), other.shape());
  return {x.expand(shape), other.expand(shape)};
}

Tensor operator+(const Tensor& x, const Tensor& other) {
  const auto [a, b] = operands("add", x, other);
  return record(
      "add", launch::binary(Binary::add, a, b), {a, b}, Saves::nothing,
      [](const Vjp& v) { return v.grad(); },  //
      [](const Vjp& v) { return v.grad(); });
}

Tensor operator-(const Tensor& x, const Tensor& other) {
  const auto [a, b] = operands("sub", x, other);
  return record(
      "sub", launch::binary(Binary::subtract, a, b), {a, b}, Saves::nothing,
      [](const Vjp& v) { return v.grad(); },  //
      [](const Vjp& v) { return -v.grad(); });
}

Tensor operator*(const Tensor& x, const Tensor& other) {
  const auto [a, b] = operands("mul", x, other);
  return record(
      "mul", launch::binary(Binary::multiply, a, b), {a, b}, Saves::inputs,
      [](const Vjp& v) { return v.grad() * v.input(1); },
      [](const Vjp& v) { return v.grad() * v.input(0); });
}

// y = a / b;  da = g / b;  db = -g (a / b) / b, which does not overflow where b * b would.
Tensor operator/(const Tensor& x, const Tensor& other) {
  check_floating("div", x);
  const auto [a, b] = operands("div", x, other);
  return record(
      "div", launch::binary(Binary::divide, a, b), {a, b}, Saves::output | Saves::input1,
      [](const Vjp& v) { return v.grad() / v.input(1); },
      [](const Vjp& v) { return -(v.grad() * (v.output() / v.input(1))); });
}

Tensor operator+(const Tensor& x, double other) {
  check_operand("add", x, other);
  return record("add", launch::binary(Binary::add, x, other), {x}, Saves::nothing,
                [](const Vjp& v) { return v.grad(); });
}

Tensor operator-(const Tensor& x, double other) {
  check_operand("sub", x, other);
  return record("sub", launch::binary(Binary::subtract, x, other), {x}, Saves::nothing,
                [](const Vjp& v) { return v.grad(); });
}

Tensor operator*(const Tensor& x, double other) {
  check_operand("mul", x, other);
  return record("mul", launch::binary(Binary::multiply, x, other), {x}, Saves::nothing,
                [other](const Vjp& v) { return v.grad() * other; });
}

Tensor operator/(const Tensor& x, double other) {
  check_floating("div", x);
  return record("div", launch::binary(Binary::divide, x, other), {x}, Saves::nothing,
                [other](const Vjp& v) { return v.grad() / other; });
}

Tensor operator+(double x, const Tensor& other) { return other + x; }
Tensor operator*(double x, const Tensor& other) { return other * x; }

Tensor operator-(double x, const Tensor& other) {
  check_operand("sub", other, x);
  return record("sub", launch::binary(Binary::subtract, x, other), {other}, Saves::nothing,
                [](const Vjp& v) { return -v.grad(); });
}

// y = c / x;  dx = -g (c / x) / x
Tensor operator/(double x, const Tensor& other) {
  check_floating("div", other);
  return record("div", launch::binary(Binary::divide, x, other), {other},
                Saves::output | Saves::input0,
                [](const Vjp& v) { return -(v.grad() * (v.output() / v.input(0))); });
}

Tensor operator-(const Tensor& x) {
  check_not_bool("neg", x);
  return record("neg", launch::unary(launch::Unary::negate, x), {x}, Saves::nothing,
                [](const Vjp& v) { return -v.grad(); });
}

// y = max(a, b);  da = g where a > b, g / 2 where a = b;  db likewise
Tensor maximum(const Tensor& x, const Tensor& other) {
  const auto [a, b] = operands("maximum", x, other);
  return record(
      "maximum", launch::binary(Binary::maximum, a, b), {a, b}, Saves::inputs,
      [](const Vjp& v) { return share_of_larger(v.grad(), v.input(0), v.input(1)); },
      [](const Vjp& v) { return share_of_larger(v.grad(), v.input(1), v.input(0)); });
}

Tensor minimum(const Tensor& x, const Tensor& other) {
  const auto [a, b] = operands("minimum", x, other);
  return record(
      "minimum", launch::binary(Binary::minimum, a, b), {a, b}, Saves::inputs,
      [](const Vjp& v) { return share_of_larger(v.grad(), v.input(1), v.input(0)); },
      [](const Vjp& v) { return share_of_larger(v.grad(), v.input(0), v.input(1)); });
}

Tensor add(const Tensor& x, const Tensor& other, double alpha) {
  return alpha == 1.0 ? x + other : x + other * alpha;
}
Tensor sub(const Tensor& x, const Tensor& other, double alpha) {
  return alpha == 1.0 ? x - other : x - other * alpha;
}
Tensor mul(const Tensor& x, const Tensor& other) { return x * other; }
Tensor div(const Tensor& x, const Tensor& other) { return x / other; }
Tensor neg(const Tensor& x) { return -x; }

}  // namespace gradus
