#include "framework/ops/normalization.h"

#include "framework/autograd/node.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"

namespace gradus {
namespace {

Tensor normalize(const Tensor& x, double eps);

Tensor row_mean(const Tensor& x) { return mean(x, {-1}, true); }

/// 1 / sqrt(variance + eps) of each row, by ops: what the rule below differentiates.
Tensor reciprocal_deviation(const Tensor& x, double eps) {
  const Tensor centred = x - row_mean(x);
  return 1.0 / sqrt(row_mean(centred * centred) + eps);
}

// With xhat = normalize(x), r = 1 / sqrt(var + eps), and row means <.>:
//   B(g, x) = r (g - <g> - xhat <g xhat>),    the derivative of normalize
// B is symmetric and linear in g, so its own derivative by g is B again, applied to u. By x:
//   d(sum(u B)) / dx = -r^2 xhat (<u g> - <u> <g> - <u xhat> <g xhat>)
//                      - r (<g xhat> B(u, x) + <u xhat> B(g, x))
Tensor normalize_backward(const Tensor& gradient, const Tensor& x, const Tensor& xhat,
                          const Tensor& rstd, double eps) {
  const Tensor dx = empty_like(x);
  const Index size = x.size(-1);
  if (dx.numel() > 0) {
    kernels::table().normalize_backward(x.dtype(), x.numel() / size, size, dx.raw(),
                                        launch::packed(gradient).raw(), xhat.raw(), rstd.raw());
  }
  return record(
      "normalize_backward", dx, {gradient, x}, Saves::inputs,
      [xhat, rstd, eps](const Vjp& v) {
        return normalize_backward(v.grad(), v.input(1), xhat, rstd, eps);
      },
      [xhat, rstd, eps](const Vjp& v) {
        const Tensor u = v.grad();
        const Tensor g = v.input(0);
        const Tensor x0 = v.input(1);
        const Tensor normal = normalize(x0, eps);
        const Tensor r = reciprocal_deviation(x0, eps);
        const Tensor ux = row_mean(u * normal);
        const Tensor gx = row_mean(g * normal);
        return -(r * r * normal) * (row_mean(u * g) - row_mean(u) * row_mean(g) - ux * gx) -
               r * (gx * normalize_backward(u, x0, xhat, rstd, eps) +
                    ux * normalize_backward(g, x0, xhat, rstd, eps));
      });
}

/// (x - mean) / sqrt(variance + eps) over the last axis.
Tensor normalize(const Tensor& x, double eps) {
  const Tensor xhat = empty_like(x);
  const Index size = x.size(-1);
  const Index rows = x.numel() / std::max<Index>(size, 1);
  const Tensor rstd = empty({rows}, x.dtype());
  if (rows > 0) {
    kernels::table().normalize(x.dtype(), rows, size, eps, xhat.raw(), rstd.raw(),
                               launch::packed(x).raw());
  }
  // The rule is handed xhat and rstd as plain numbers: it is a function of g and x alone.
  return record("normalize", xhat, {x}, Saves::input0 | Saves::output, [rstd, eps](const Vjp& v) {
    return normalize_backward(v.grad(), v.input(0), v.output().detach(), rstd, eps);
  });
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
  const Index kept = axes_before("layer_norm", x, normalized_shape);
  check_affine("layer_norm", "weight", x, weight, normalized_shape);
  check_affine("layer_norm", "bias", x, bias, normalized_shape);
  const bool one_axis = normalized_shape.size() == 1;
  Tensor y = one_axis ? normalize(x, eps) : normalize(x.flatten(kept, -1), eps).view(x.shape());
  if (weight.defined()) y = y * weight;
  if (bias.defined()) y = y + bias;
  return y;
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
