#include "framework/ops/normalization.h"

#include "framework/autograd/composed_internal.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"

namespace gradus {
namespace {

constexpr Index kBlock = 16384;  // numbers whose gradients are summed in one go

/// x (..., normalized_shape) as rows, and what the kernels need to know of them again.
struct Rows {
  Index count;
  Index size;
  Tensor moments;  // (count, 2) float64

  Rows(const Tensor& x, const Shape& normalized_shape)
      : count(1), size(element_count(normalized_shape)) {
    for (Index i = 0; i < x.dim() - normalized_shape.size(); ++i) count *= x.shape()[i];
    if (size == 0) count = 0;
    moments = empty({count, 2}, float64);
  }

  kernels::NormRows for_kernel() const {
    return {count, size, static_cast<kernels::RowMoments*>(moments.raw())};
  }
};

/// The same by other ops, which have derivatives of every order.
Tensor composed_layer_norm(const std::vector<Tensor>& inputs, const Shape& normalized_shape,
                           double eps) {
  const Tensor& x = inputs[0];
  Axes axes;
  for (Index axis = -normalized_shape.size(); axis < 0; ++axis) axes.push_back(axis);
  const Tensor centred = x - mean(x, axes, true);
  Tensor y = centred / sqrt(mean(centred * centred, axes, true) + eps);
  if (inputs[1].defined()) y = y * inputs[1];
  if (inputs[2].defined()) y = y + inputs[2];
  return y;
}

// With h = g weight and row means <.>:  dx = rstd (h - <h> - xhat <h xhat>);
// dweight = sum over the rows of g xhat;  dbias = sum over the rows of g
Gradients layer_norm_backward(const Vjp& v, const Rows& rows) {
  const Tensor x = launch::packed(v.input(0));
  const Tensor weight = launch::packed_if_defined(v.input(1));
  const Tensor g = launch::packed(v.grad());
  const Index block = std::max<Index>(kBlock / std::max<Index>(rows.size, 1), 1);
  const Shape sums{(rows.count + block - 1) / block, rows.size};
  const auto wanted = [&](Index input, const Shape& shape) {
    return v.wants(input) ? empty(shape, x.dtype()) : Tensor();
  };
  const Tensor dx = wanted(0, x.shape());
  const Tensor dweight = wanted(1, sums);
  const Tensor dbias = wanted(2, sums);
  kernels::table().layer_norm_backward(x.dtype(), rows.for_kernel(), block, launch::raw_or_null(dx),
                                       launch::raw_or_null(dweight), launch::raw_or_null(dbias),
                                       g.raw(), x.raw(), launch::raw_or_null(weight));
  const auto total = [&](const Tensor& parts, Index input) {
    return parts.defined() ? sum(parts, {0}).view(v.input(input).shape()) : parts;
  };
  return {dx, total(dweight, 1), total(dbias, 2)};
}

void check_affine(const char* op, const char* role, const Tensor& x, const Tensor& parameter,
                  const Shape& shape) {
  if (!parameter.defined()) return;
  check_same_dtype(op, x, parameter);
  if (!(parameter.shape() == shape)) {
    throw ShapeError(text(op, ": ", role, " does not fit normalized_shape"),
                     {.got = text(role, " ", parameter.shape(), ", normalized_shape ", shape)});
  }
}

/// How many axes stand before the normalised ones.
Index axes_before(const char* op, const Tensor& x, const Shape& normalized_shape) {
  check_floating(op, x);
  const Index kept = x.dim() - normalized_shape.size();
  bool fits = kept >= 0 && !normalized_shape.empty();
  for (Index i = 0; i < normalized_shape.size() && fits; ++i) {
    fits = x.shape()[kept + i] == normalized_shape[i];
  }
  if (!fits) {
    throw ShapeError(text(op, ": the last axes of x are not ", normalized_shape),
                     {.got = text("x ", described(x))});
  }
  return kept;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
  axes_before("layer_norm", x, normalized_shape);
  check_affine("layer_norm", "weight", x, weight, normalized_shape);
  check_affine("layer_norm", "bias", x, bias, normalized_shape);
  const Rows rows(x, normalized_shape);
  const Tensor y = empty_like(x);
  kernels::table().layer_norm(x.dtype(), rows.for_kernel(), eps, y.raw(), launch::packed(x).raw(),
                              launch::raw_or_null(launch::packed_if_defined(weight)),
                              launch::raw_or_null(launch::packed_if_defined(bias)));
  return record("layer_norm", y, {x, weight, bias}, Saves::inputs,
                [rows, normalized_shape, eps](const Vjp& v) {
                  if (!grad_enabled()) return layer_norm_backward(v, rows);
                  return composed_gradients(v, [&](const std::vector<Tensor>& inputs) {
                    return composed_layer_norm(inputs, normalized_shape, eps);
                  });
                });
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, double eps) {
  const Index kept = axes_before("rms_norm", x, normalized_shape);
  check_affine("rms_norm", "weight", x, weight, normalized_shape);
  Axes axes;
  for (Index axis = kept; axis < x.dim(); ++axis) axes.push_back(axis);
  const Tensor y = x * rsqrt(mean(x * x, axes, true) + eps);
  return weight.defined() ? y * weight : y;
}

}  // namespace gradus
