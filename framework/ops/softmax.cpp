#include "framework/ops/softmax.h"

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"

namespace gradus {

// y = exp(x) / sum(exp(x));  dx = y (g - sum(g y))
Tensor softmax(const Tensor& x, Index axis, WhenAllHidden when_all_hidden) {
  check_floating("softmax", x);
  const Index a = checked_axis("softmax", axis, x.dim());
  const Tensor y = empty_like(x);
  kernels::table().softmax(x.dtype(), launch::split_at(x.shape(), a), y.raw(),
                           launch::packed(x).raw(), when_all_hidden == WhenAllHidden::zero);
  return record("softmax", y, {x}, Saves::output,
                [a](const Vjp& v) { return softmax_backward(v.grad(), v.output(), a); });
}

// dx = y (g - sum(g y)); from its own gradient u:
//   dg = y (u - sum(u y));  dy = u (g - sum(g y)) - g sum(u y)
Tensor softmax_backward(const Tensor& gradient, const Tensor& output, Index wanted_axis) {
  check_floating("softmax_backward", output);
  check_same_dtype("softmax_backward", output, gradient);
  const Index axis = checked_axis("softmax_backward", wanted_axis, output.dim());
  if (!(gradient.shape() == output.shape())) {
    throw ShapeError("softmax_backward: the gradient does not fit the output",
                     {.got = text("gradient ", gradient.shape(), ", output ", output.shape())});
  }
  const Tensor dx = empty_like(output);
  kernels::table().softmax_backward(output.dtype(), launch::split_at(output.shape(), axis),
                                    dx.raw(), launch::packed(gradient).raw(),
                                    launch::packed(output).raw());
  return record(
      "softmax_backward", dx, {gradient, output}, Saves::inputs,
      [axis](const Vjp& v) { return softmax_backward(v.grad(), v.input(1), axis); },
      [axis](const Vjp& v) {
        const Tensor u = v.grad();
        const Tensor g = v.input(0);
        const Tensor y = v.input(1);
        return u * (g - sum(g * y, {axis}, true)) - g * sum(u * y, {axis}, true);
      });
}

// y = x - log(sum(exp(x)));  dx = g - exp(y) sum(g)
Tensor log_softmax(const Tensor& x, Index axis) {
  check_floating("log_softmax", x);
  const Index a = checked_axis("log_softmax", axis, x.dim());
  const Tensor y = empty_like(x);
  kernels::table().log_softmax(x.dtype(), launch::split_at(x.shape(), a), y.raw(),
                               launch::packed(x).raw());
  return record("log_softmax", y, {x}, Saves::output, [a](const Vjp& v) {
    return v.grad() - exp(v.output()) * sum(v.grad(), {a}, true);
  });
}

}  // namespace gradus
