// ONNX operators that reduce, rank or run along axes. The axes of a reduction are its second input;
// without any it takes all of them, or, with noop_with_empty_axes, leaves the numbers as they are.
#include <optional>

#include "framework/ops/creation.h"
#include "framework/ops/extreme.h"
#include "framework/ops/join.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/goldens_onnx/onnx_case.h"
#include "tests/support/tensors.h"

namespace gradus::testing {
namespace {

using Reduce = Tensor (*)(const Tensor& x, const Axes& axes, bool keepdim);

/// The operator by its function of axes: at least one, counted from the front.
OnnxOp reduction(Reduce reduce) {
  return [reduce](const OnnxCase& in) {
    const Tensor x = in[0];
    Axes axes = in[1].defined() ? in.list(1) : Axes{};
    if (axes.empty()) {
      if (in.flag("noop_with_empty_axes", false)) return Outputs{x};
      for (Index axis = 0; axis < x.dim(); ++axis) axes.push_back(axis);
    }
    for (Index& axis : axes) axis = checked_axis("axes", axis, x.dim());
    return Outputs{reduce(x, axes, in.flag("keepdims", true))};
  };
}

Tensor product(const Tensor& x, const Axes& axes, bool keepdim) {
  Tensor y = x;
  for (const Index axis : axes) y = prod(y, axis, true);
  return keepdim ? y : sum(y, axes);  // of one element each
}

/// x with one more element, `value`, along each of the axes that has none.
Tensor filled_up(const Tensor& x, const Axes& axes, double value) {
  Tensor y = x;
  for (const Index axis : axes) {
    if (y.size(axis) > 0) continue;
    Shape shape = y.shape();
    shape[axis] = 1;
    y = cat({y, full(shape, value, y.dtype())}, axis);
  }
  return y;
}

// ONNX's extremes over no elements are the ends of the number line, where amax() throws.
Tensor largest(const Tensor& x, const Axes& axes, bool keepdim) {
  return amax(filled_up(x, axes, -kInf), axes, keepdim);
}
Tensor smallest(const Tensor& x, const Axes& axes, bool keepdim) {
  return amin(filled_up(x, axes, kInf), axes, keepdim);
}

Tensor log_sum(const Tensor& x, const Axes& axes, bool keepdim) {
  return log(sum(x, axes, keepdim));
}
Tensor sum_square(const Tensor& x, const Axes& axes, bool keepdim) {
  return sum(square(x), axes, keepdim);
}
Tensor norm1(const Tensor& x, const Axes& axes, bool keepdim) { return norm(x, 1, axes, keepdim); }
Tensor norm2(const Tensor& x, const Axes& axes, bool keepdim) { return norm(x, 2, axes, keepdim); }

// ---- positions ----

using Position = Tensor (*)(const Tensor& x, std::optional<Index> axis, bool keepdim);

/// Where the extreme is; select_last_index asks for the last of equal ones.
OnnxOp position(Position op) {
  return [op](const OnnxCase& in) {
    const auto axis = in.attr<Index>("axis", 0);
    const bool keepdim = in.flag("keepdims", true);
    if (!in.flag("select_last_index", false)) return Outputs{op(in[0], axis, keepdim)};
    const auto last = static_cast<double>(in[0].size(axis) - 1);
    return Outputs{last - op(flip(in[0], {axis}), axis, keepdim)};
  };
}

Outputs top_k(const OnnxCase& in) {
  const MaxResult best = topk(in[0], static_cast<Index>(in[1].item()), in.attr<Index>("axis", -1),
                              in.flag("largest", true));
  return {best.values, best.indices};
}

// ---- running sums ----

Outputs running_sum(const OnnxCase& in) {
  const auto axis = static_cast<Index>(in[1].item());
  const bool reverse = in.flag("reverse", false);
  const Tensor x = reverse ? flip(in[0], {axis}) : in[0];
  const Tensor y = in.flag("exclusive", false) ? cumsum(x, axis) - x : cumsum(x, axis);
  return {reverse ? flip(y, {axis}) : y};
}

}  // namespace

OnnxOps onnx_reductions() {
  return {
      {"ReduceSum", reduction(sum)},
      {"ReduceMean", reduction(mean)},
      {"ReduceMax", reduction(largest)},
      {"ReduceMin", reduction(smallest)},
      {"ReduceProd", reduction(product)},
      {"ReduceL1", reduction(norm1)},
      {"ReduceL2", reduction(norm2)},
      {"ReduceLogSum", reduction(log_sum)},
      {"ReduceLogSumExp", reduction(logsumexp)},
      {"ReduceSumSquare", reduction(sum_square)},
      {"ArgMax", position(argmax)},
      {"ArgMin", position(argmin)},
      {"TopK", top_k},
      {"CumSum", running_sum},
  };
}

}  // namespace gradus::testing
