#include "framework/ops/reduce.h"

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

using launch::AxisSplit;
using launch::Reduce;

Shape with_ones(const Shape& shape, const Axes& axes) {
  Shape kept = shape;
  for (const Index axis : axes) kept[axis] = 1;
  return kept;
}

Shape without(const Shape& shape, const Axes& axes) {
  Shape kept;
  for (Index axis = 0; axis < shape.size(); ++axis) {
    if (!axes.contains(axis)) kept.push_back(shape[axis]);
  }
  return kept;
}

/// x off the tape with its reduced axes side by side, row-major, so that they are one axis.
Tensor with_axes_together(const Tensor& x, const Axes& axes) {
  if (axes.empty() || axes.back() - axes[0] + 1 == axes.size()) return launch::packed(x.detach());
  Axes order;
  for (Index axis = 0; axis < x.dim(); ++axis) {
    if (!axes.contains(axis)) order.push_back(axis);
  }
  for (const Index axis : axes) order.push_back(axis);
  return launch::packed(x.detach().permute(order));
}

/// The reduced axes' numbers of elements: before, of, and after them.
AxisSplit split_around(const Shape& shape, const Axes& axes) {
  const bool together = axes.empty() || axes.back() - axes[0] + 1 == axes.size();
  AxisSplit split{1, 1, 1};
  for (Index axis = 0; axis < shape.size(); ++axis) {
    const bool reduced = axes.contains(axis);
    const bool after = together && !axes.empty() && axis > axes.back();
    (reduced ? split.size : after ? split.inner : split.outer) *= shape[axis];
  }
  return split;
}

/// Runs the kernel over `axes`, which stay as axes of size 1.
Tensor reduced(Reduce op, const Tensor& x, const Axes& axes) {
  const Tensor from = with_axes_together(x, axes);
  Tensor out(with_ones(x.shape(), axes), x.dtype());
  if (out.numel() > 0) {
    kernels::table().reduce(op, x.dtype(), split_around(x.shape(), axes), out.raw(), from.raw());
  }
  return out;
}

Tensor finished(Tensor result, const Shape& shape, const Axes& axes, bool keepdim) {
  return keepdim ? result : result.view(without(shape, axes));
}

void check_not_empty(const char* op, const Tensor& x, const Axes& axes) {
  for (const Index axis : axes) {
    if (x.shape()[axis] == 0) {
      throw ShapeError(text(op, ": axis ", axis, " has no elements to choose from"),
                       {.got = text("x ", described(x))});
    }
  }
}

}  // namespace

// y = sum of x;  dx = g, repeated
Tensor sum(const Tensor& x, const Axes& wanted, bool keepdim) {
  if (!is_floating(x.dtype()) && x.dtype() != int64) return sum(x.to(int64), wanted, keepdim);
  const Axes axes = checked_axes("sum", wanted, x.dim());
  const Tensor kept = record("sum", reduced(Reduce::sum, x, axes), {x}, Saves::nothing,
                             [shape = x.shape()](const Vjp& v) { return v.grad().expand(shape); });
  return finished(kept, x.shape(), axes, keepdim);
}
Tensor sum(const Tensor& x) { return sum(x, {}); }

// y = mean of x;  dx = g / n, repeated
Tensor mean(const Tensor& x, const Axes& wanted, bool keepdim) {
  check_floating("mean", x);
  const Axes axes = checked_axes("mean", wanted, x.dim());
  const double count = static_cast<double>(split_around(x.shape(), axes).size);
  const Tensor kept =
      record("mean", reduced(Reduce::mean, x, axes), {x}, Saves::nothing,
             [shape = x.shape(), count](const Vjp& v) { return (v.grad() / count).expand(shape); });
  return finished(kept, x.shape(), axes, keepdim);
}
Tensor mean(const Tensor& x) { return mean(x, {}); }

// y = max of x;  dx = g where x = y, divided by how many they are
Tensor amax(const Tensor& x, const Axes& wanted, bool keepdim) {
  const Axes axes = checked_axes("amax", wanted, x.dim());
  check_not_empty("amax", x, axes);
  const Tensor kept = record("amax", reduced(Reduce::amax, x, axes), {x},
                             Saves::output | Saves::input0, [axes](const Vjp& v) {
                               const Tensor x0 = v.input(0);
                               const Tensor ties = eq(x0, v.output().expand(x0.shape()));
                               const Tensor share = ties.to(x0.dtype());
                               return share * (v.grad() / share.sum(axes, true));
                             });
  return finished(kept, x.shape(), axes, keepdim);
}
Tensor max(const Tensor& x) { return amax(x); }

// values = x[indices];  dx = g at indices
MaxResult max(const Tensor& x, Index axis, bool keepdim) {
  const Index a = checked_axis("max", axis, x.dim());
  if (x.dim() == 0) return {x.clone(), zeros({}, int64)};
  check_not_empty("max", x, {a});
  const Shape kept = with_ones(x.shape(), {a});
  Tensor values(kept, x.dtype());
  Tensor indices(kept, int64);
  if (values.numel() > 0) {
    kernels::table().max(x.dtype(), launch::split_at(x.shape(), a), values.raw(),
                         static_cast<Index*>(indices.raw()), launch::packed(x).raw());
  }
  values = record("max", values, {x, indices}, Saves::input1, [shape = x.shape(), a](const Vjp& v) {
    return scatter_add(zeros(shape, v.grad().dtype()), a, v.input(1), v.grad());
  });
  return {finished(values, x.shape(), {a}, keepdim), finished(indices, x.shape(), {a}, keepdim)};
}

}  // namespace gradus
