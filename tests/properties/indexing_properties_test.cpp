// Ops that pick by random int64 indices, whose memory is strided as that of any other input.
#include <algorithm>

#include "framework/core/error.h"
#include "framework/ops/indexing.h"
#include "tests/properties/properties.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using reference::Array;

/// The shape of an index into `shape` along the axis: any size there, no larger ones elsewhere; of
/// nothing where there is nothing to point at.
Shape draw_index_shape(Random& random, const Shape& shape, Index axis) {
  Shape index = shape;
  for (Index i = 0; i < shape.size(); ++i) {
    if (i == reference::counted(axis, shape.size())) {
      index[i] = shape[i] == 0 ? 0 : random.size(6);
    } else if (shape[i] > 0 && random.chance(0.2)) {
      index[i] = random.between(0, shape[i]);
    }
  }
  return index;
}

Index bound_of(const Array& x, Index axis) { return x.rank() == 0 ? 1 : x.size(axis); }

Instance draw_gather(Random& random) {
  Instance call;
  const Input x = call.add(random.input(random.shape(0, 4), random.any_dtype()));
  const Index axis = random.axis(x.rank());
  const Shape shape = draw_index_shape(random, x.shape(), axis);
  const Input index = call.add(random.index(shape, bound_of(x.array, axis)));
  call.how = text("axis ", axis);
  call.function = [=](const Tensors& in) { return Tensors{gather(in[0], axis, in[1])}; };
  call.expect(reference::gather(x.array, axis, index.array), x.dtype());
  return call;
}

Instance draw_scatter_add(Random& random) {
  Instance call;
  const Input x = call.add(random.input(random.shape(0, 4), random.number()));
  const Index axis = random.axis(x.rank());
  const Shape shape = draw_index_shape(random, x.shape(), axis);
  const Input index = call.add(random.index(shape, bound_of(x.array, axis)));
  const Input source = call.add(random.input(shape, x.dtype()));
  call.how = text("axis ", axis);
  call.function = [=](const Tensors& in) {
    return Tensors{scatter_add(in[0], axis, in[1], in[2])};
  };
  call.expect(reference::scatter_add(x.array, axis, index.array, source.array), x.dtype());
  return call;
}

Instance draw_index_select(Random& random) {
  Instance call;
  const Input x = call.add(random.input(random.shape(1, 5), random.any_dtype()));
  const Index axis = random.axis(x.rank());
  const Index size = x.array.size(axis);
  const Input index = call.add(random.index({size == 0 ? 0 : random.size(6)}, size));
  call.how = text("axis ", axis);
  call.function = [=](const Tensors& in) { return Tensors{index_select(in[0], axis, in[1])}; };
  call.expect(reference::index_select(x.array, axis, index.array), x.dtype());
  return call;
}

/// The padding row counts in the value and has no gradient: it is smooth only without one.
Instance draw_embedding(Random& random) {
  Instance call;
  const Index rows = random.between(1, 6);
  const Input indices = call.add(random.index(random.shape(0, 3), rows));
  const Input weight = call.add(random.input({rows, random.size()}, random.floating()));
  const Index padding = random.chance(0.2) ? random.between(0, rows - 1) : kNoPadding;
  call.how = text("padding_idx ", padding);
  call.function = [=](const Tensors& in) { return Tensors{embedding(in[0], in[1], padding)}; };
  call.expect(reference::embedding(indices.array, weight.array), weight.dtype());
  call.smooth = padding == kNoPadding;
  return call;
}

Instance draw_one_hot(Random& random) {
  Instance call;
  const Index bound = random.between(1, 5);
  const Input index = call.add(random.index(random.shape(0, 4), bound));
  const std::vector<double>& labels = index.array.values;
  const bool counted = !labels.empty() && random.chance(0.4);
  const Index classes =
      counted ? static_cast<Index>(*std::max_element(labels.begin(), labels.end())) + 1
              : bound + random.between(0, 1);
  call.how = counted ? "classes counted" : text(classes, " classes");
  call.function = [=](const Tensors& in) {
    return Tensors{one_hot(in[0], counted ? -1 : classes)};
  };
  call.expect(reference::one_hot(index.array, classes), int64);
  return call;
}

const Family indexing("indexing", 1200,
                      {{"gather", draw_gather},
                       {"scatter_add", draw_scatter_add},
                       {"index_select", draw_index_select},
                       {"embedding", draw_embedding},
                       {"one_hot", draw_one_hot}});

}  // namespace

TEST_CASE("properties: indexing") { indexing.check(); }
