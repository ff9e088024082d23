#include "framework/ops/heads_internal.h"

#include "framework/autograd/node.h"
#include "framework/ops/launch.h"

namespace gradus {

// y[b, h, l, i] = x[b, l, h d + i];  dx = g, merged
Tensor split_heads(const Tensor& x, Index n_heads) {
  const Shape& sizes = x.shape();
  const Strides& steps = x.strides();
  const Index width = sizes[2] / n_heads;
  const Tensor y = x.rearranged({sizes[0], n_heads, sizes[1], width},
                                {steps[0], width * steps[2], steps[1], steps[2]});
  return record("split_heads", y, {x}, Saves::nothing,
                [](const Vjp& v) { return merge_heads(v.grad()); });
}

// y[b, l, h d + i] = x[b, h, l, i];  dx = g, split
Tensor merge_heads(const Tensor& x) {
  const Shape& sizes = x.shape();
  const Index heads = sizes[1];
  const Index width = sizes[3];
  Tensor from = x;
  if (heads != 1 && x.strides()[1] != width * x.strides()[3]) {
    from = empty_heads(sizes, x.dtype());
    launch::copy_into(from, x);
  }
  const Strides& steps = from.strides();
  const Tensor y =
      from.rearranged({sizes[0], sizes[2], heads * width}, {steps[0], steps[2], steps[3]});
  return record("merge_heads", y, {x}, Saves::nothing,
                [heads](const Vjp& v) { return split_heads(v.grad(), heads); });
}

Tensor empty_heads(const Shape& shape, DType dtype) {
  const Index width = shape[1] * shape[3];
  return Tensor(shape, {shape[2] * width, shape[3], width, 1}, dtype);
}

}  // namespace gradus
