#include "framework/ops/linear.h"

#include "framework/autograd/node.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"
#include "framework/ops/linear_internal.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"

namespace gradus {
namespace {

Gradients gradients_by_kernel(const Vjp& v) {
  const Tensor g = launch::packed(v.grad());
  const Tensor x = launch::packed(v.input(0));
  const Tensor weight = launch::packed(v.input(1));
  const Matrix g_rows = rows_of(g);
  Gradients all(3);
  if (v.wants(0)) all[0] = product_gradient(v, 0, x, g_rows, rows_of(weight));
  if (v.wants(1)) all[1] = product_gradient(v, 1, weight, g_rows.transposed(), rows_of(x));
  if (v.wants(2)) all[2] = sum_of_rows(g);
  return all;
}

/// The same by ops, whose results can be differentiated again.
Gradients gradients_by_ops(const Vjp& v) {
  const auto rows = [](const Tensor& x) {
    return x.dim() == 1 ? x.unsqueeze(0) : x.flatten(0, -2);
  };
  const Tensor g = rows(v.grad());
  Gradients all(3);
  if (v.wants(0)) all[0] = matmul(v.grad(), v.input(1));
  if (v.wants(1)) all[1] = matmul(g.transpose(0, 1), rows(v.input(0)));
  if (v.wants(2)) all[2] = sum(g, {0});
  return all;
}

}  // namespace

// y = x WT + b;  dx = g W;  dW = gT x;  db = sum of g's rows
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  Shape shape = x.shape();
  shape[x.dim() - 1] = weight.size(0);
  const Tensor y = empty(shape, x.dtype());
  const Tensor x_packed = launch::packed(x);
  const Tensor weight_packed = launch::packed(weight);
  const Tensor bias_packed = launch::packed_if_defined(bias);
  multiply(y, rows_of(x_packed), rows_of(weight_packed).transposed(),
           {.bias = launch::raw_or_null(bias_packed)});
  return record("linear", y, {x, weight, bias}, Saves::input0 | Saves::input1, [](const Vjp& v) {
    return grad_enabled() ? gradients_by_ops(v) : gradients_by_kernel(v);
  });
}

}  // namespace gradus
