// Slices, and the way back.
#include <algorithm>

#include "framework/autograd/node.h"
#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"
#include "framework/ops/views.h"

namespace gradus {
namespace {

Index clamped(Index bound, Index size) {
  return std::clamp<Index>(bound < 0 ? bound + size : bound, 0, size);
}

/// Throws unless slice(axis, start, ..., step) of a tensor of this shape can have the shape of x.
void check_slice_of(const Tensor& x, const Shape& shape, Index axis, Index start, Index step) {
  Shape others = x.shape();
  if (!shape.empty() && others.size() == shape.size()) others[axis] = shape[axis];
  if (shape.empty() || !(others == shape)) {
    throw ShapeError(text("slice_backward: x is no slice along axis ", axis),
                     {.got = text("x ", x.shape(), ", shape ", shape)});
  }
  const Index taken = x.shape()[axis];
  const Index size = shape[axis];
  const bool starts_inside = start >= 0 && start <= size && step >= 1;
  // The last one is (taken - 1) * step after the first, and size - 1 - start are there.
  if (!starts_inside || (taken > 0 && start == size) ||
      (taken > 1 && (size - 1 - start) / (taken - 1) < step)) {
    throw ValueError(text("slice_backward: ", taken, " elements from ", start, " in steps of ",
                          step, " do not fit an axis of ", size),
                     {.got = text("x ", x.shape(), ", shape ", shape)});
  }
}

/// Where slice(axis, start, ..., step) of `whole` finds x.
Tensor place_of(const Tensor& x, const Tensor& whole, Index axis, Index start, Index step) {
  return whole.slice(axis, start, start + (x.shape()[axis] - 1) * step + 1, step);
}

/// The gradient of x by a slice of it: zeros around g. Where x has received others, g is added to
/// its part of their sum, so that many slices of x take no more time than x does.
Tensor slice_gradient(const Vjp& v, const Tensor& g, const Shape& shape, Index axis, Index start,
                      Index step) {
  const Tensor sum = v.sum_so_far(0);
  if (!sum.defined()) return slice_backward(g, shape, axis, start, step);
  if (g.numel() > 0) launch::add_scaled_into(place_of(g, sum, axis, start, step), g, 1);
  return {};
}

}  // namespace

Tensor Tensor::slice(Index axis, std::optional<Index> start, std::optional<Index> end,
                     Index step) const {
  if (dim() == 0) throw ShapeError("slice: a tensor without axes cannot be sliced");
  if (step < 1) throw ValueError(text("slice: needs a step of at least 1, not ", step));
  const Index a = checked_axis("slice", axis, dim());
  const Index size = shape()[a];
  const Index first = clamped(start.value_or(0), size);
  const Index last = std::max(first, clamped(end.value_or(size), size));
  Shape sizes = shape();
  Strides steps = strides();
  sizes[a] = last == first ? 0 : (last - first - 1) / step + 1;
  steps[a] = sizes[a] > 1 ? strides()[a] * step : strides()[a];
  const Index offset = impl().offset + (sizes[a] > 0 ? first * strides()[a] : 0);
  return record("slice", alias(sizes, steps, offset), {*this}, Saves::nothing,
                [before = shape(), a, first, step](const Vjp& v) {
                  return slice_gradient(v, v.grad(), before, a, first, step);
                });
}

Tensor Tensor::select(Index axis, Index index) const {
  if (dim() == 0) throw ShapeError("select: a tensor without axes has nothing to select");
  const Index a = checked_axis("select", axis, dim());
  const Index size = shape()[a];
  if (index < -size || index >= size) {
    throw ValueError(text("select: index ", index, " is outside ", -size, "..", size - 1),
                     {.got = text("x ", shape(), ", axis ", a)});
  }
  const Index counted = index < 0 ? index + size : index;
  Shape sizes = shape();
  Strides steps = strides();
  sizes.erase(a);
  steps.erase(a);
  return record("select", alias(sizes, steps, impl().offset + counted * strides()[a]), {*this},
                Saves::nothing, [before = shape(), a, counted](const Vjp& v) {
                  return slice_gradient(v, v.grad().unsqueeze(a), before, a, counted, 1);
                });
}

Tensor slice_backward(const Tensor& x, const Shape& shape, Index wanted_axis, Index start,
                      Index step) {
  const Index axis = checked_axis("slice_backward", wanted_axis, shape.size());
  check_slice_of(x, shape, axis, start, step);
  const Tensor out = zeros(shape, x.dtype());
  if (x.numel() > 0) launch::copy_into(place_of(x, out, axis, start, step), x);
  const Index end = start + std::max<Index>(0, (x.shape()[axis] - 1) * step + 1);
  return record("slice_backward", out, {x}, Saves::nothing, [axis, start, end, step](const Vjp& v) {
    return v.grad().slice(axis, start, end, step);
  });
}

}  // namespace gradus
