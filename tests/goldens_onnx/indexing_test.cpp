// ONNX operators that read or write where an index points. Gradus takes no negative indices and
// scatters only by adding, so both are composed here: indices are made non-negative first, and a
// write goes step by step along the axis, so that within a step no place is written twice.
#include "framework/ops/indexing.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/masking.h"
#include "framework/ops/views.h"
#include "tests/goldens_onnx/onnx_case.h"

namespace gradus::testing {
namespace {

Tensor non_negative(const Tensor& index, Index size) {
  return where(lt(index, 0.0), index + static_cast<double>(size), index);
}

/// The positions that `index` (..., n) names in the first n axes of `shape`, flattened: (...).
Tensor flat_position(const Tensor& index, const Shape& shape) {
  Tensor position = zeros({}, int64);
  for (Index axis = 0; axis < index.size(-1); ++axis) {
    const Tensor step = non_negative(index.select(-1, axis), shape[axis]);
    position = position * static_cast<double>(shape[axis]) + step;
  }
  return position;
}

/// The slices along an axis that an index of any shape names; its axes replace that one.
Tensor take(const Tensor& x, Index axis, const Tensor& index) {
  Shape shape = x.shape();
  shape.erase(axis);
  for (Index i = 0; i < index.dim(); ++i) shape.insert(axis + i, index.size(i));
  return index_select(x, axis, index.flatten()).reshape(shape);
}

/// A tensor that varies along one axis, seen with a whole shape.
Tensor along(const Tensor& list, Index axis, const Shape& shape) {
  Shape ones = Shape::filled(shape.size(), 1);
  ones[axis] = list.numel();
  return list.reshape(ones).expand(shape);
}

// ---- reading ----

Outputs gather_slices(const OnnxCase& in) {
  const Index axis = checked_axis("Gather", in.attr<Index>("axis", 0), in[0].dim());
  return {take(in[0], axis, non_negative(in[1], in[0].size(axis)))};
}

Outputs gather_elements(const OnnxCase& in) {
  const auto axis = in.attr<Index>("axis", 0);
  return {gather(in[0], axis, non_negative(in[1], in[0].size(axis)))};
}

/// The last axis of the index holds positions in the axes of the data after the batch axes, whose
/// own positions are put before them here.
Outputs gather_nd(const OnnxCase& in) {
  std::vector<Tensor> position = {in[1]};
  for (Index axis = in.attr<Index>("batch_dims", 0) - 1; axis >= 0; --axis) {
    Shape shape = in[1].shape();
    shape[shape.size() - 1] = 1;
    position.insert(position.begin(), along(places(shape[axis]), axis, shape));
  }
  const Tensor index = cat(position, -1);
  return {take(in[0].flatten(0, index.size(-1) - 1), 0, flat_position(index, in[0].shape()))};
}

/// Indices outside the depth become a class of their own, which is cut off again.
Outputs one_hot_of(const OnnxCase& in) {
  const auto depth = static_cast<Index>(in[1].item());
  const Tensor index = non_negative(in[0].to(int64), depth);
  const Tensor outside = logical_or(lt(index, 0.0), ge(index, in[1].item()));
  const Tensor classes = masked_fill(index, outside, in[1].item());
  const Tensor hot = gt(one_hot(classes, depth + 1).slice(-1, 0, depth), 0.0);
  return {where(movedim(hot, -1, in.attr<Index>("axis", -1)), in[2][1], in[2][0])};
}

// ---- writing ----

using Combine = Tensor (*)(const Tensor& old_value, const Tensor& update);

Combine combine_of(const std::string& reduction) {
  static const std::map<std::string, Combine> ways = {
      {"none", [](const Tensor&, const Tensor& update) { return update; }},
      {"add", [](const Tensor& old_value, const Tensor& update) { return old_value + update; }},
      {"mul", mul},
      {"max", maximum},
      {"min", minimum}};
  return ways.at(reduction);
}

/// x with each place that `index` names along the axis combined with its update, in order.
Tensor scatter(const Tensor& x, Index axis, const Tensor& index, const Tensor& updates,
               Combine combine) {
  Tensor y = x;
  for (Index i = 0; i < index.size(axis); ++i) {
    const Tensor at = non_negative(index.slice(axis, i, i + 1), x.size(axis));
    const Tensor value = combine(gather(y, axis, at), updates.slice(axis, i, i + 1));
    const Tensor hit = scatter_add(zeros(x.shape(), int64), axis, at, ones(at.shape(), int64));
    y = where(gt(hit, 0.0), scatter_add(zeros_like(x), axis, at, value), y);
  }
  return y;
}

Outputs scatter_elements(const OnnxCase& in) {
  return {scatter(in[0], in.attr<Index>("axis", 0), in[1], in[2],
                  combine_of(in.attr("reduction", "none")))};
}

/// The axes that the index points into become one, and so do all others.
Outputs scatter_nd(const OnnxCase& in) {
  const Tensor row = flat_position(in[1], in[0].shape()).flatten();
  const Tensor x = in[0].flatten(0, in[1].size(-1) - 1).unsqueeze(-1).flatten(1);
  const Tensor updates = in[2].reshape({row.numel(), x.size(1)});
  const Tensor y = scatter(x, 0, along(row, 0, updates.shape()), updates,
                           combine_of(in.attr("reduction", "none")));
  return {y.reshape(in[0].shape())};
}

/// Writes the updates of each batch into its cache from the batch's own position on; past the end
/// a circular cache begins anew.
Outputs tensor_scatter(const OnnxCase& in) {
  const Tensor cache = in[0];
  const Tensor update = in[1];
  const Index axis = checked_axis("TensorScatter", in.attr<Index>("axis", -2), cache.dim());
  Tensor index = along(places(update.size(axis)), axis, update.shape());
  if (in[2].defined()) index = index + along(in[2], 0, update.shape());
  if (in.attr("mode", "linear") == "circular") {
    const auto size = static_cast<double>(cache.size(axis));
    index = where(ge(index, size), index - size, index);
  }
  return {scatter(cache, axis, index, update, combine_of("none"))};
}

}  // namespace

OnnxOps onnx_indexing() {
  return {
      {"Gather", gather_slices},
      {"GatherElements", gather_elements},
      {"GatherND", gather_nd},
      {"OneHot", one_hot_of},
      {"ScatterElements", scatter_elements},
      {"ScatterND", scatter_nd},
      {"TensorScatter", tensor_scatter},
  };
}

}  // namespace gradus::testing
