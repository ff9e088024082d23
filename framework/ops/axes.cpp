#include "framework/ops/axes.h"

#include "framework/ops/launch.h"

namespace gradus {
namespace {

bool are_neighbours(const Axes& axes) {
  return axes.empty() || axes.back() - axes[0] + 1 == axes.size();
}

}  // namespace

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

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdim) {
  return keepdim ? with_ones(shape, axes) : without(shape, axes);
}

Tensor with_axes_together(const Tensor& x, const Axes& axes) {
  if (are_neighbours(axes)) return launch::packed(x);
  Axes order;
  for (Index axis = 0; axis < x.dim(); ++axis) {
    if (!axes.contains(axis)) order.push_back(axis);
  }
  for (const Index axis : axes) order.push_back(axis);
  return launch::packed(x.detach().permute(order));
}

kernels::AxisSplit split_around(const Shape& shape, const Axes& axes) {
  const bool together = are_neighbours(axes);
  kernels::AxisSplit split{1, 1, 1};
  for (Index axis = 0; axis < shape.size(); ++axis) {
    const bool reduced = axes.contains(axis);
    const bool after = together && !axes.empty() && axis > axes.back();
    (reduced ? split.size : after ? split.inner : split.outer) *= shape[axis];
  }
  return split;
}

Tensor finished(const Tensor& result, const Shape& shape, const Axes& axes, bool keepdim) {
  return keepdim ? result : result.view(without(shape, axes));
}

}  // namespace gradus
