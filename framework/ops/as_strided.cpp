// as_strided(): any sizes and strides over the memory of a tensor.
#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"

namespace gradus {
namespace {

/// The strides, or for a shape without elements, which reach nowhere, those of a row-major tensor.
Strides taken_strides(const Shape& shape, const Strides& strides) {
  return shape.contains(0) ? contiguous_strides(shape) : strides;
}

/// Throws unless all that as_strided() names lies in the memory of x.
void check_strided(const Tensor& x, const Shape& shape, const Strides& strides, Index offset) {
  const Index room = static_cast<Index>(x.impl().storage->bytes()) / x.itemsize();
  const auto details = [&]() -> ErrorDetails {
    return {.got = text("shape ", shape, ", strides ", strides, ", offset ", offset, ", memory of ",
                        room, " elements")};
  };
  if (strides.size() != shape.size()) {
    throw ShapeError("as_strided: needs one stride for each axis", details());
  }
  const Index count = element_count(shape);
  bool inside = offset >= 0 && (offset < room || count == 0);
  Index left = inside && count > 0 ? room - 1 - offset : 0;  // beyond the furthest element so far
  for (Index axis = 0; axis < shape.size() && inside; ++axis) {
    inside = strides[axis] >= 0;
    if (count == 0 || shape[axis] == 1 || !inside) continue;
    inside = strides[axis] <= left / (shape[axis] - 1);
    left -= inside ? strides[axis] * (shape[axis] - 1) : 0;
  }
  if (!inside) throw ValueError("as_strided: reaches outside the memory of x", details());
  if (overlaps_itself(x)) {
    throw ValueError("as_strided: several elements of x share memory",
                     {.got = text("x ", described(x), " with strides ", x.strides()),
                      .hint = "contiguous() makes a copy without"});
  }
}

/// Where in memory the elements lie, in row-major order.
Tensor places(const Shape& shape, const Strides& strides, Index offset) {
  Tensor place = full(Shape::filled(shape.size(), 1), static_cast<double>(offset), int64);
  for (Index axis = 0; axis < shape.size(); ++axis) {
    Shape along = Shape::filled(shape.size(), 1);
    along[axis] = shape[axis];
    const Tensor steps = arange(static_cast<double>(shape[axis])).view(along);
    place = place + steps * static_cast<double>(strides[axis]);
  }
  return place.flatten();
}

}  // namespace

// y = memory[places of y];  dx = dmemory[places of x], dmemory being g added up where y has it
Tensor Tensor::as_strided(const Shape& sizes, const Strides& steps,
                          std::optional<Index> storage_offset) const {
  const Index offset = storage_offset.value_or(impl().offset);
  check_strided(*this, sizes, steps, offset);
  const auto rule =
      [before = shape(), strides = strides(), first = impl().offset, sizes, steps, offset,
       room = static_cast<Index>(impl().storage->bytes()) / itemsize()](const Vjp& v) {
        const Tensor nothing = zeros({room}, v.grad().dtype());
        const Tensor memory =
            scatter_add(nothing, 0, places(sizes, steps, offset), v.grad().reshape({-1}));
        return index_select(memory, 0, places(before, strides, first)).view(before);
      };
  const Tensor y = alias(sizes, taken_strides(sizes, steps), offset);
  return record("as_strided", y, {*this}, Saves::nothing, rule);
}

}  // namespace gradus
