// The ops that read well in a chain, spelled as methods.
#include "framework/ops/extreme.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"

namespace gradus {

Tensor Tensor::sum() const { return gradus::sum(*this); }
Tensor Tensor::sum(const Axes& axes, bool keepdim) const {
  return gradus::sum(*this, axes, keepdim);
}
Tensor Tensor::mean() const { return gradus::mean(*this); }
Tensor Tensor::mean(const Axes& axes, bool keepdim) const {
  return gradus::mean(*this, axes, keepdim);
}
Tensor Tensor::max() const { return gradus::max(*this); }
MaxResult Tensor::max(Index axis, bool keepdim) const { return gradus::max(*this, axis, keepdim); }
Tensor Tensor::exp() const { return gradus::exp(*this); }
Tensor Tensor::log() const { return gradus::log(*this); }
Tensor Tensor::sqrt() const { return gradus::sqrt(*this); }
Tensor Tensor::tanh() const { return gradus::tanh(*this); }
Tensor Tensor::sigmoid() const { return gradus::sigmoid(*this); }
Tensor Tensor::relu() const { return gradus::relu(*this); }
Tensor Tensor::softmax(Index axis) const { return gradus::softmax(*this, axis); }
Tensor Tensor::log_softmax(Index axis) const { return gradus::log_softmax(*this, axis); }
Tensor Tensor::matmul(const Tensor& other) const { return gradus::matmul(*this, other); }
Tensor Tensor::masked_fill(const Tensor& mask, double value) const {
  return gradus::masked_fill(*this, mask, value);
}

}  // namespace gradus
