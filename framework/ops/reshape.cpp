// view(), reshape() and flatten(): the same elements, in the same row-major order, as another
// shape.
#include <array>
#include <optional>

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"

namespace gradus {
namespace {

/// `shape` with its -1, if any, worked out. Throws ShapeError unless it has numel elements.
Shape resolved(const char* op, const Tensor& x, const Shape& wanted) {
  const auto fail = [&](const std::string& why) {
    throw ShapeError(text(op, ": ", why), {.got = text("x ", x.shape(), ", shape ", wanted)});
  };
  Shape shape = wanted;
  Index open = -1;  // the axis of the -1, which counts as a 1 until it is known
  for (Index i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 0) continue;
    if (shape[i] != -1) fail(text("negative size ", shape[i]));
    if (open >= 0) fail("only one size may be -1");
    open = i;
    shape[i] = 1;
  }
  const Index count = element_count(shape);
  if (open >= 0) {
    if (count == 0) fail("-1 could be any size beside a 0");
    shape[open] = x.numel() / count;
  }
  if (count * (open >= 0 ? shape[open] : 1) != x.numel()) {
    fail(text(x.numel(), " elements do not fill ", wanted));
  }
  return shape;
}

/// Strides with which the storage of x, as it lies, has this shape; none where it has to be copied.
std::optional<Strides> strides_for(const Tensor& x, const Shape& shape) {
  if (x.is_contiguous() || x.numel() == 0) return contiguous_strides(shape);
  struct Run {  // neighbouring axes that are stepped through evenly
    Index size;
    Index step;
  };
  std::array<Run, kMaxRank + 1> runs{{{1, 1}}};
  std::size_t last = 0;
  for (Index axis = 0; axis < x.dim(); ++axis) {
    const Index size = x.shape()[axis];
    const Index step = x.strides()[axis];
    if (size == 1) continue;
    if (runs[last].step == step * size) {
      runs[last] = {runs[last].size * size, step};
    } else {
      runs[++last] = {size, step};
    }
  }
  // The new axes, from the last, take their elements from the runs; none may straddle two.
  Strides strides = contiguous_strides(shape);
  for (Index axis = shape.size() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    while (runs[last].size == 1) --last;
    Run& run = runs[last];
    if (run.size % shape[axis] != 0) return std::nullopt;
    strides[axis] = run.step;
    run.step *= shape[axis];
    run.size /= shape[axis];
  }
  return strides;
}

Tensor viewed(const Tensor& x, const Shape& shape, const Strides& strides) {
  return record("view", x.rearranged(shape, strides), {x}, Saves::nothing,
                [before = x.shape()](const Vjp& v) { return v.grad().reshape(before); });
}

}  // namespace

Tensor Tensor::view(const Shape& wanted) const {
  const Shape shape = resolved("view", *this, wanted);
  if (const auto strides = strides_for(*this, shape)) return viewed(*this, shape, *strides);
  throw ShapeError(text("view: the strides do not allow ", shape, " without a copy"),
                   {.got = text("x ", this->shape(), " with strides ", this->strides()),
                    .hint = "reshape() copies where it must; or contiguous().view(...)"});
}

Tensor Tensor::reshape(const Shape& wanted) const {
  const Shape shape = resolved("reshape", *this, wanted);
  if (const auto strides = strides_for(*this, shape)) return viewed(*this, shape, *strides);
  return viewed(contiguous(), shape, contiguous_strides(shape));
}

Tensor Tensor::flatten(Index start_axis, Index end_axis) const {
  const Index start = checked_axis("flatten", start_axis, dim());
  const Index end = checked_axis("flatten", end_axis, dim());
  if (start > end) throw ShapeError(text("flatten: axis ", start, " comes after axis ", end));
  Shape shape;
  Index joined = 1;
  for (Index axis = 0; axis < dim(); ++axis) {
    if (axis < start || axis > end) shape.push_back(this->shape()[axis]);
    if (axis >= start && axis <= end) joined *= this->shape()[axis];
    if (axis == end) shape.push_back(joined);
  }
  return reshape(dim() == 0 ? Shape{1} : shape);
}

}  // namespace gradus
