// ONNX operators that change shapes and keep the numbers, or make numbers from a shape: views,
// concatenation, pieces, repetition, triangles and ranges.
#include <algorithm>

#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/views.h"
#include "tests/goldens_onnx/onnx_case.h"

namespace gradus::testing {
namespace {

/// Everything before `axis` as rows, everything from it on as columns.
Outputs flatten(const OnnxCase& in) {
  const Tensor x = in[0];
  const auto axis = in.attr<Index>("axis", 1);
  Index rows = 1;
  for (Index i = 0; i < (axis < 0 ? axis + x.dim() : axis); ++i) rows *= x.size(i);
  return {x.reshape({rows, rows == 0 ? 0 : x.numel() / rows})};
}

/// A 0 stands for the size that the axis has, unless allowzero.
Outputs reshape(const OnnxCase& in) {
  Shape shape = in.list(1);
  for (Index i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !in.flag("allowzero", false)) shape[i] = in[0].size(i);
  }
  return {in[0].reshape(shape)};
}

/// The axes of input 1, counted from the front of a shape with `rank` axes, in rising order.
Axes sorted_axes(const OnnxCase& in, Index rank) {
  Axes axes = in.list(1);
  for (Index& axis : axes) axis = checked_axis("axes", axis, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

Outputs squeeze(const OnnxCase& in) {
  Tensor y = in[0];
  if (!in[1].defined()) return {y.squeeze()};
  const Axes axes = sorted_axes(in, y.dim());
  for (Index i = axes.size() - 1; i >= 0; --i) y = y.squeeze(axes[i]);
  return {y};
}

Outputs unsqueeze(const OnnxCase& in) {
  Tensor y = in[0];
  for (const Index axis : sorted_axes(in, y.dim() + in[1].numel())) y = y.unsqueeze(axis);
  return {y};
}

/// The axes in another order; reversed unless one is given.
Outputs transpose(const OnnxCase& in) {
  Axes order;
  for (const Index axis : in.attr("perm", std::vector<Index>())) order.push_back(axis);
  for (Index axis = in[0].dim() - 1; order.size() < in[0].dim(); --axis) order.push_back(axis);
  return {in[0].permute(order)};
}

Outputs expand(const OnnxCase& in) {
  return {in[0].expand(broadcast_shape("Expand", in[0].shape(), in.list(1)))};
}

Outputs slice(const OnnxCase& in) {
  const IndexList starts = in.list(1);
  const IndexList ends = in.list(2);
  Tensor y = in[0];
  for (Index i = 0; i < starts.size(); ++i) {
    const Index axis = in[3].defined() ? in.list(3)[i] : i;
    y = y.slice(axis, starts[i], ends[i], in[4].defined() ? in.list(4)[i] : 1);
  }
  return {y};
}

/// Pieces of the sizes that input 1 lists, or as many equal ones as there are outputs.
Outputs split_of(const OnnxCase& in) {
  const auto axis = in.attr<Index>("axis", 0);
  if (in[1].defined()) return split(in[0], in[1].to_vector<Index>(), axis);
  return chunk(in[0], static_cast<Index>(in.output_count()), axis);
}

Outputs triangle(const OnnxCase& in) {
  const Index diagonal = in[1].defined() ? static_cast<Index>(in[1].item()) : 0;
  return {in.flag("upper", true) ? triu(in[0], diagonal) : tril(in[0], diagonal)};
}

Outputs range(const OnnxCase& in) {
  return {arange(in[0].item(), in[1].item(), in[2].item(), in[0].dtype())};
}

}  // namespace

OnnxOps onnx_shapes() {
  return {
      {"Flatten", flatten},
      {"Reshape", reshape},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Transpose", transpose},
      {"Expand", expand},
      {"Tile", [](const OnnxCase& in) { return Outputs{repeat(in[0], in.list(1))}; }},
      {"Concat",
       [](const OnnxCase& in) { return Outputs{cat(in.inputs(), in.attr<Index>("axis", 0))}; }},
      {"Slice", slice},
      {"Split", split_of},
      {"Trilu", triangle},
      {"Range", range},
  };
}

}  // namespace gradus::testing
