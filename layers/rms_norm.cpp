#include "layers/rms_norm.h"

#include <limits>

#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "framework/ops/normalization.h"

namespace gradus {
namespace {

double machine_epsilon(DType dtype) {
  return dtype == float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                          : std::numeric_limits<double>::epsilon();
}

}  // namespace

RMSNorm::RMSNorm(const RMSNormOptions& options)
    : normalized_shape_(options.normalized_shape), eps_(options.eps) {
  if (eps_ && !(*eps_ >= 0)) throw ValueError(text("RMSNorm: negative eps ", *eps_));
  element_count(normalized_shape_);  // for its errors
  if (options.elementwise_affine) weight = ones(normalized_shape_).requires_grad_();
}

Tensor RMSNorm::forward(const Tensor& x) const {
  return rms_norm(x, normalized_shape_, weight, eps_.value_or(machine_epsilon(x.dtype())));
}

std::string RMSNorm::description() const {
  return text("RMSNorm(", normalized_shape_, weight.defined() ? ")" : ", no weight)");
}

}  // namespace gradus
