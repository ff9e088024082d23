#include "framework/autograd/gradient_sum_internal.h"

#include "framework/kernels/table.h"

namespace gradus {

bool is_ours_alone(const Tensor& tensor) {
  return tensor.impl().ref_count() == 1 && tensor.impl().storage->ref_count() == 1 &&
         tensor.is_contiguous() && !tensor.requires_grad();
}

Tensor sum_of(const Tensor& sum, const Tensor& gradient) {
  if (!is_ours_alone(sum) || !gradient.is_contiguous() || gradient.requires_grad()) {
    return sum + gradient;
  }
  const Index count = sum.numel();
  const Index step = 1;
  const kernels::Operand to{sum.raw(), &step};
  if (count > 0) {
    kernels::table().add_scaled(sum.dtype(), {1, &count}, to, {gradient.raw(), &step}, 1.0);
  }
  return sum;
}

}  // namespace gradus
