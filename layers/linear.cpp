#include "layers/linear.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/ops/linear.h"
#include "framework/ops/random.h"

namespace gradus {

Linear::Linear(const LinearOptions& options) {
  const auto [in, out, with_bias] = options;
  if (in < 1 || out < 0) {
    throw ValueError(text("Linear: cannot map ", in, " features to ", out),
                     {.need = "in_features of at least 1, out_features of at least 0"});
  }
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = uniform({out, in}, -bound, bound).requires_grad_();
  if (with_bias) bias = uniform({out}, -bound, bound).requires_grad_();
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight, bias); }

std::string Linear::description() const {
  return text("Linear(", weight.size(1), ", ", weight.size(0), bias.defined() ? ")" : ", no bias)");
}

}  // namespace gradus
