#include "layers/init.h"

#include <algorithm>
#include <cmath>

#include "framework/autograd/no_grad.h"
#include "framework/ops/checks.h"
#include "framework/ops/random.h"

namespace gradus::init {
namespace {

struct Fans {
  double in;
  double out;
};

Fans fans_of(const char* function, const Tensor& tensor) {
  if (tensor.dim() < 2) {
    throw ShapeError(text(function, ": needs at least two axes to tell inputs from outputs"),
                     {.got = text("tensor ", described(tensor)), .need = "(out, in, ...)"});
  }
  double field = 1.0;
  for (Index axis = 2; axis < tensor.dim(); ++axis) field *= static_cast<double>(tensor.size(axis));
  // At least 1: a tensor without elements draws nothing, whatever its bounds.
  return {.in = std::max(1.0, static_cast<double>(tensor.size(1)) * field),
          .out = std::max(1.0, static_cast<double>(tensor.size(0)) * field)};
}

double xavier_deviation(const char* function, const Tensor& tensor, double gain) {
  const Fans fans = fans_of(function, tensor);
  return gain * std::sqrt(2.0 / (fans.in + fans.out));
}

double kaiming_deviation(const char* function, const Tensor& tensor, double a, FanMode mode) {
  const Fans fans = fans_of(function, tensor);
  const double gain = std::sqrt(2.0 / (1.0 + a * a));
  return gain / std::sqrt(mode == FanMode::fan_in ? fans.in : fans.out);
}

Tensor& evenly(Tensor& tensor, double deviation, Generator* generator) {
  const double bound = std::sqrt(3.0) * deviation;
  return uniform_(tensor, -bound, bound, generator);
}

}  // namespace

Tensor& uniform_(Tensor& tensor, double a, double b, Generator* generator) {
  const NoGrad no_grad;
  return tensor.copy_(uniform(tensor.shape(), a, b, tensor.dtype(), generator));
}

// PyTorch draws fewer than 16 numbers in double, and scales them before it rounds.
Tensor& normal_(Tensor& tensor, double mean, double deviation, Generator* generator) {
  if (!(deviation >= 0)) {
    throw ValueError(text("normal_: deviation ", deviation, " must be at least 0"));
  }
  check_floating("normal_", tensor);
  const NoGrad no_grad;
  const DType drawn = tensor.numel() < 16 ? float64 : tensor.dtype();
  const Tensor numbers = randn(tensor.shape(), drawn, generator) * deviation + mean;
  return tensor.copy_(numbers.to(tensor.dtype()));
}

Tensor& constant_(Tensor& tensor, double value) {
  const NoGrad no_grad;
  return tensor.fill_(value);
}

Tensor& xavier_uniform_(Tensor& tensor, double gain, Generator* generator) {
  return evenly(tensor, xavier_deviation("xavier_uniform_", tensor, gain), generator);
}

Tensor& xavier_normal_(Tensor& tensor, double gain, Generator* generator) {
  return normal_(tensor, 0.0, xavier_deviation("xavier_normal_", tensor, gain), generator);
}

Tensor& kaiming_uniform_(Tensor& tensor, double a, FanMode mode, Generator* generator) {
  return evenly(tensor, kaiming_deviation("kaiming_uniform_", tensor, a, mode), generator);
}

Tensor& kaiming_normal_(Tensor& tensor, double a, FanMode mode, Generator* generator) {
  return normal_(tensor, 0.0, kaiming_deviation("kaiming_normal_", tensor, a, mode), generator);
}

}  // namespace gradus::init
