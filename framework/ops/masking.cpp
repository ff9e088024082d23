#include "framework/ops/masking.h"

#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/launch.h"

namespace gradus {

// y = value where mask, else x;  dx = 0 where mask, else g
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_dtype("masked_fill", "mask", mask, boolean);
  check_number("masked_fill", x, value);
  const auto [a, m] = broadcast("masked_fill", x, mask);
  return record("masked_fill", launch::select(m, value, a), {a, m}, Saves::input1,
                [](const Vjp& v) { return masked_fill(v.grad(), v.input(1), 0.0); });
}

// y = a where condition, else b;  da = g where condition, else 0;  db the other way round
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_dtype("where", "condition", condition, boolean);
  check_same_dtype("where", a, b);
  const Shape values = broadcast_shape("where", a.shape(), b.shape());
  const Shape shape = broadcast_shape("where", values, condition.shape());
  const Tensor c = condition.expand(shape);
  const Tensor x = a.expand(shape);
  const Tensor y = b.expand(shape);
  return record(
      "where", launch::select(c, x, y), {x, y, c}, Saves::input2,
      [](const Vjp& v) { return masked_fill(v.grad(), logical_not(v.input(2)), 0.0); },
      [](const Vjp& v) { return masked_fill(v.grad(), v.input(2), 0.0); });
}

}  // namespace gradus
