#include "framework/optim/clip.h"

#include <algorithm>
#include <cmath>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/ops/unary.h"

namespace gradus {
namespace {

/// The gradients that there are, each once.
std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    const bool seen = std::any_of(gradients.begin(), gradients.end(),
                                  [&](const Tensor& known) { return known.is_same(gradient); });
    if (gradient.defined() && !seen) gradients.push_back(gradient);
  }
  return gradients;
}

double largest_of(const std::vector<Tensor>& gradients) {
  double largest = 0;
  for (const Tensor& gradient : gradients) {
    for (const double element : gradient.to_vector<double>()) {
      const double size = std::fabs(element);
      largest = std::isnan(size) ? size : std::max(largest, size);
    }
  }
  return largest;
}

// In shares of the largest, or powers would overflow or vanish.
double norm_of(const std::vector<Tensor>& gradients, double norm_type) {
  const double largest = largest_of(gradients);
  if (std::isinf(norm_type) || largest == 0 || !std::isfinite(largest)) return largest;
  int exponent = 0;
  std::frexp(largest, &exponent);
  double sum = 0;
  for (const Tensor& gradient : gradients) {
    for (const double element : gradient.to_vector<double>()) {
      const double size = std::ldexp(std::fabs(element), -exponent);  // exact
      sum += norm_type == 2.0 ? size * size : norm_type == 1.0 ? size : std::pow(size, norm_type);
    }
  }
  return std::ldexp(norm_type == 2.0 ? std::sqrt(sum) : std::pow(sum, 1 / norm_type), exponent);
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type) {
  if (!(max_norm >= 0) || !(norm_type > 0)) {
    throw ValueError(
        text("clip_grad_norm_: needs max_norm of at least 0 and norm_type above 0, not ", max_norm,
             " and ", norm_type));
  }
  const NoGrad no_grad;
  std::vector<Tensor> gradients = gradients_of(parameters);
  const double norm = norm_of(gradients, norm_type);
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;  // NaN scales, so that it is seen
  for (Tensor& gradient : gradients) gradient.mul_(factor);
  return norm;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  if (!(clip_value >= 0)) {
    throw ValueError(text("clip_grad_value_: needs a value of at least 0, not ", clip_value));
  }
  const NoGrad no_grad;
  for (Tensor& gradient : gradients_of(parameters)) {
    gradient.copy_(clamp(gradient, -clip_value, clip_value));
  }
}

}  // namespace gradus
