#include "framework/ops/views.h"

#include <utility>

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"

namespace gradus {
namespace {

/// The axes in the order that undoes `axes`.
Axes inverse(const Axes& axes) {
  Axes result = axes;
  for (Index i = 0; i < axes.size(); ++i) result[axes[i]] = i;
  return result;
}

}  // namespace

Tensor Tensor::permute(const Axes& wanted) const {
  Axes axes;
  for (const Index axis : wanted) axes.push_back(checked_axis("permute", axis, dim()));
  if (axes.size() != dim() ||
      (!axes.empty() && checked_axes("permute", axes, dim()).size() != dim())) {
    throw ShapeError(text("permute: ", wanted.size(), " axes given for ", dim()),
                     {.got = text("axes ", wanted, ", x ", shape())});
  }
  Shape sizes = shape();
  Strides steps = strides();
  for (Index i = 0; i < dim(); ++i) {
    sizes[i] = shape()[axes[i]];
    steps[i] = strides()[axes[i]];
  }
  return record("permute", rearranged(sizes, steps), {*this}, Saves::nothing,
                [axes](const Vjp& v) { return v.grad().permute(inverse(axes)); });
}

Tensor Tensor::transpose(Index axis0, Index axis1) const {
  const Index a = checked_axis("transpose", axis0, dim());
  const Index b = checked_axis("transpose", axis1, dim());
  Shape sizes = shape();
  Strides steps = strides();
  if (dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(steps[a], steps[b]);
  }
  return record("transpose", rearranged(sizes, steps), {*this}, Saves::nothing,
                [a, b](const Vjp& v) { return v.grad().transpose(a, b); });
}

Tensor Tensor::expand(const Shape& wanted) const {
  const Index added = wanted.size() - dim();
  Shape sizes = wanted;
  Strides steps = Strides::filled(wanted.size(), 0);
  bool fits = added >= 0;
  for (Index i = 0; i < wanted.size() && fits; ++i) {
    const Index size = i < added ? 1 : shape()[i - added];
    if (i >= added && wanted[i] == -1) sizes[i] = size;
    if (i >= added && sizes[i] == size) steps[i] = strides()[i - added];
    fits = sizes[i] >= 0 && (sizes[i] == size || size == 1);
  }
  if (!fits) {
    throw ShapeError(text("expand: ", shape(), " cannot become ", wanted),
                     {.need = "equal sizes, or a 1 to be repeated, counted from the last axis"});
  }
  if (sizes == shape()) return *this;
  return record("expand", alias(sizes, steps, impl().offset), {*this}, Saves::nothing,
                [before = shape()](const Vjp& v) { return sum_to(v.grad(), before); });
}

Tensor Tensor::squeeze() const {
  Shape sizes;
  for (const Index size : shape()) {
    if (size != 1) sizes.push_back(size);
  }
  return view(sizes);
}

Tensor Tensor::squeeze(Index axis) const {
  const Index a = checked_axis("squeeze", axis, dim());
  if (dim() == 0 || shape()[a] != 1) return *this;
  Shape sizes = shape();
  Strides steps = strides();
  sizes.erase(a);
  steps.erase(a);
  return record("squeeze", rearranged(sizes, steps), {*this}, Saves::nothing,
                [a](const Vjp& v) { return v.grad().unsqueeze(a); });
}

Tensor Tensor::unsqueeze(Index axis) const {
  const Index a = checked_axis("unsqueeze", axis, dim() + 1);
  Shape sizes = shape();
  Strides steps = strides();
  sizes.insert(a, 1);
  steps.insert(a, a < dim() ? shape()[a] * strides()[a] : 1);
  return record("unsqueeze", rearranged(sizes, steps), {*this}, Saves::nothing,
                [a](const Vjp& v) { return v.grad().squeeze(a); });
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  return record("clone", launch::copy(*this, dtype()), {*this}, Saves::nothing,
                [](const Vjp& v) { return v.grad(); });
}

Tensor Tensor::to(DType wanted) const {
  if (wanted == dtype()) return *this;
  Tensor converted = launch::copy(*this, wanted);
  if (!is_floating(wanted)) return converted;
  return record("to", std::move(converted), {*this}, Saves::nothing,
                [before = dtype()](const Vjp& v) { return v.grad().to(before); });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  const Index added = x.dim() - shape.size();
  bool fits = added >= 0;
  for (Index axis = 0; axis < shape.size() && fits; ++axis) {
    fits = shape[axis] == 1 || shape[axis] == x.shape()[axis + added];
  }
  if (!fits) {
    throw ShapeError(text("sum_to: ", shape, " does not expand to ", x.shape()),
                     {.need = "equal sizes, or a 1, counted from the last axis"});
  }
  Axes stretched;
  for (Index axis = 0; axis < x.dim(); ++axis) {
    if (axis < added || (shape[axis - added] == 1 && x.shape()[axis] != 1))
      stretched.push_back(axis);
  }
  return stretched.empty() ? x.view(shape) : x.sum(stretched, true).reshape(shape);
}

Tensor movedim(const Tensor& x, Index source, Index destination) {
  const Index from = checked_axis("movedim", source, x.dim());
  const Index to = checked_axis("movedim", destination, x.dim());
  Axes order;
  for (Index axis = 0; axis < x.dim(); ++axis) {
    if (axis != from) order.push_back(axis);
  }
  if (x.dim() > 0) order.insert(to, from);
  return x.permute(order);
}

Tensor flip(const Tensor& x, const Axes& axes) {
  Tensor result = x.clone();
  if (axes.empty()) return result;
  for (const Index axis : checked_axes("flip", axes, x.dim())) {
    const auto last = static_cast<double>(x.shape()[axis] - 1);
    result = index_select(result, axis, arange(last, -1, -1));
  }
  return result;
}

namespace {

/// x with zeros where `hidden(column - row)` says so in its last two axes.
template <class Hidden>
Tensor triangle(const char* op, const Tensor& x, Hidden hidden) {
  if (x.dim() < 2) throw ShapeError(text(op, ": needs at least two axes, x has ", x.dim()));
  const Tensor rows = arange(static_cast<double>(x.size(-2))).unsqueeze(1);
  const Tensor columns = arange(static_cast<double>(x.size(-1))).unsqueeze(0);
  return masked_fill(x, hidden(columns - rows), 0.0);
}

}  // namespace

Tensor tril(const Tensor& x, Index diagonal) {
  return triangle("tril", x, [diagonal](const Tensor& distance) {
    return gt(distance, static_cast<double>(diagonal));
  });
}
Tensor triu(const Tensor& x, Index diagonal) {
  return triangle("triu", x, [diagonal](const Tensor& distance) {
    return lt(distance, static_cast<double>(diagonal));
  });
}

}  // namespace gradus
