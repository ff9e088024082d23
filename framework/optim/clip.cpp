#include "framework/optim/clip.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "framework/autograd/node.h"
#include "framework/core/error.h"
#include "framework/core/memory.h"
#include "framework/kernels/table.h"
#include "framework/ops/unary.h"

namespace gradus {
namespace {

/// The gradients that there are, each once.
Gradients gradients_of(const std::vector<Tensor>& parameters) {
  Gradients gradients;
  gradients.reserve(parameters.size());
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    const bool seen = std::any_of(gradients.begin(), gradients.end(),
                                  [&](const Tensor& known) { return known.is_same(gradient); });
    if (gradient.defined() && !seen) gradients.push_back(gradient);
  }
  return gradients;
}

/// Calls f with the numbers of a gradient as they are stored.
template <class F>
void with_numbers(const Tensor& gradient, F f) {
  const Tensor packed = gradient.contiguous();
  const auto count = static_cast<std::size_t>(packed.numel());
  if (packed.dtype() == float32) {
    f(std::span(packed.data<float>(), count));
  } else {
    f(std::span(packed.data<double>(), count));
  }
}

double largest_of(const Gradients& gradients) {
  double largest = 0;
  for (const Tensor& gradient : gradients) {
    with_numbers(gradient, [&](auto numbers) {
      for (const double element : numbers) {
        const double size = std::fabs(element);
        largest = std::isnan(size) ? size : std::max(largest, size);
      }
    });
  }
  return largest;
}

/// The sum of power(|element|), in eight independent sums.
template <class F>
double sum_of(const Gradients& gradients, F power) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  for (const Tensor& gradient : gradients) {
    with_numbers(gradient, [&](auto numbers) {
      std::size_t i = 0;
      for (; i + kLanes <= numbers.size(); i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          lanes[lane] += power(std::fabs(double{numbers[i + lane]}));
        }
      }
      for (; i < numbers.size(); ++i) lanes[0] += power(std::fabs(double{numbers[i]}));
    });
  }
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

/// The sum of squares of float32, which a double can always hold.
double sum_of_squares(const Gradients& gradients) {
  Gradients packed;
  std::vector<kernels::Floats, BlockAllocator<kernels::Floats>> arrays;
  Index count = 0;
  for (const Tensor& gradient : gradients) {
    packed.push_back(gradient.contiguous());
    arrays.push_back({gradient.numel(), packed.back().data<float>()});
    count += gradient.numel();
  }
  const auto shares = static_cast<std::size_t>((count + kernels::kShare - 1) / kernels::kShare);
  std::vector<double, BlockAllocator<double>> sums(shares);
  kernels::table().sum_squares(arrays.data(), std::ssize(arrays), sums.data());
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double norm_of(const Gradients& gradients, double norm_type) {
  const bool all_float32 = std::all_of(gradients.begin(), gradients.end(),
                                       [](const Tensor& g) { return g.dtype() == float32; });
  if (norm_type == 2.0 && all_float32) return std::sqrt(sum_of_squares(gradients));
  const double largest = largest_of(gradients);
  if (std::isinf(norm_type) || largest == 0 || !std::isfinite(largest)) return largest;
  // In shares of the largest, or powers would overflow or vanish: by a power of 2, exactly.
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double sum = sum_of(gradients, [&](double size) {
    const double share = std::ldexp(size, -exponent);
    return norm_type == 2.0 ? share * share : norm_type == 1.0 ? share : std::pow(share, norm_type);
  });
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
  Gradients gradients = gradients_of(parameters);
  const double norm = norm_of(gradients, norm_type);
  if (std::isinf(max_norm)) return norm;  // inf / inf would be NaN
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
