#include "framework/ops/join.h"

#include <algorithm>

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

Index axis_size(const char* op, const Tensor& x, Index axis) {
  if (x.dim() == 0) throw ShapeError(text(op, ": a tensor without axes cannot be split"));
  return x.shape()[checked_axis(op, axis, x.dim())];
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, Index axis) {
  if (tensors.empty()) throw ValueError("cat: needs at least one tensor");
  const Tensor& first = tensors.front();
  if (first.dim() == 0) throw ShapeError("cat: tensors without axes cannot be joined");
  const Index a = checked_axis("cat", axis, first.dim());
  Shape shape = first.shape();
  shape[a] = 0;
  std::vector<Index> starts;
  for (const Tensor& part : tensors) {
    check_same_dtype("cat", first, part);
    Shape other = part.shape();
    if (other.size() == shape.size()) other[a] = shape[a];
    if (!(other == shape)) {
      throw ShapeError(text("cat: sizes differ on another axis than ", a),
                       {.got = text("first ", first.shape(), ", another ", part.shape())});
    }
    starts.push_back(shape[a]);
    shape[a] += part.shape()[a];
  }
  const Tensor out = empty(shape, first.dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    launch::copy_into(out.slice(a, starts[i], starts[i] + tensors[i].shape()[a]), tensors[i]);
  }
  return record("cat", out, tensors, Saves::nothing, [a, starts, end = shape[a]](const Vjp& v) {
    Gradients gradients;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const Index next = i + 1 < starts.size() ? starts[i + 1] : end;
      gradients.push_back(v.wants(static_cast<Index>(i)) ? v.grad().slice(a, starts[i], next)
                                                         : Tensor());
    }
    return gradients;
  });
}

Tensor stack(const std::vector<Tensor>& tensors, Index axis) {
  if (tensors.empty()) throw ValueError("stack: needs at least one tensor");
  const Tensor& first = tensors.front();
  const Index a = checked_axis("stack", axis, first.dim() + 1);
  std::vector<Tensor> layers;
  for (const Tensor& tensor : tensors) {
    if (!(tensor.shape() == first.shape())) {
      throw ShapeError("stack: the shapes differ",
                       {.got = text("first ", first.shape(), ", another ", tensor.shape()),
                        .hint = "cat() joins along an axis that is there"});
    }
    check_same_dtype("stack", first, tensor);
    layers.push_back(tensor.unsqueeze(a));
  }
  return cat(layers, a);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<Index>& sizes, Index axis) {
  if (x.dim() == 0) throw ShapeError("split: a tensor without axes cannot be split");
  const Index a = checked_axis("split", axis, x.dim());
  std::vector<Tensor> pieces;
  Index start = 0;
  for (const Index size : sizes) {
    if (size < 0) throw ValueError(text("split: negative size ", size));
    if (size > x.shape()[a] - start) {
      throw ValueError(text("split: the sizes add up to more than ", x.shape()[a]),
                       {.got = text("x ", described(x), ", axis ", a)});
    }
    pieces.push_back(x.slice(a, start, start + size));
    start += size;
  }
  if (start != x.shape()[a]) {
    throw ValueError(text("split: the sizes add up to ", start, ", not to ", x.shape()[a]),
                     {.got = text("x ", described(x), ", axis ", a)});
  }
  return pieces;
}

std::vector<Tensor> split(const Tensor& x, Index split_size, Index axis) {
  if (split_size < 1) throw ValueError(text("split: needs a size of at least 1, not ", split_size));
  const Index size = axis_size("split", x, axis);
  std::vector<Index> sizes(static_cast<std::size_t>(size / split_size), split_size);
  if (size % split_size != 0 || size == 0) sizes.push_back(size % split_size);
  return split(x, sizes, axis);
}

std::vector<Tensor> chunk(const Tensor& x, Index chunks, Index axis) {
  if (chunks < 1) throw ValueError(text("chunk: needs at least 1 piece, not ", chunks));
  const Index size = axis_size("chunk", x, axis);
  return split(x, std::max<Index>(1, size / chunks + (size % chunks != 0 ? 1 : 0)), axis);
}

// One axis of repeats before each axis of x, stretched by expand and joined by reshape.
Tensor repeat(const Tensor& x, const Shape& repeats) {
  const Index added = repeats.size() - x.dim();
  if (added < 0) {
    throw ShapeError(text("repeat: ", repeats.size(), " repeats for ", x.dim(), " axes"));
  }
  Tensor result = x;
  for (Index i = 0; i < added; ++i) result = result.unsqueeze(0);
  Shape whole = result.shape();
  for (Index axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 0) throw ShapeError(text("repeat: negative count in ", repeats));
    element_count({whole[axis], repeats[axis]});  // throws where it overflows, as the next does
    whole[axis] *= repeats[axis];
  }
  element_count(whole);
  for (Index axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] == 1) continue;
    Shape stretched = result.shape();
    stretched.insert(axis, repeats[axis]);
    Shape joined = result.shape();
    joined[axis] = whole[axis];
    result = result.unsqueeze(axis).expand(stretched).reshape(joined);
  }
  return result.impl().storage == x.impl().storage ? result.clone() : result.contiguous();
}

}  // namespace gradus
