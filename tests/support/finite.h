// Whether a function and its derivatives stay among the numbers.
#pragma once

#include <cmath>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/trace.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/catch.h"
#include "tests/support/tensors.h"

namespace gradus::testing {

inline bool all_finite(const Tensor& x) {
  for (const double number : x.to_vector<double>()) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

/// Runs function(inputs), which returns one tensor, its gradients by a random cotangent, and the
/// gradients of their squares: all finite, and of the inputs' shapes. A NanTrace looks on the way.
/// Returns the result and the first gradients, off the tape.
template <class Function>
std::vector<Tensor> check_finite(Function function, const std::vector<Tensor>& inputs) {
  const NanTrace trace;
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.clone().requires_grad_());
  const Tensor y = function(leaves);
  CHECK(all_finite(y));
  const std::vector<Tensor> first =
      gradients({y}, leaves,
                {.grad_outputs = {random_normal(y.shape(), 9).to(y.dtype())},
                 .create_graph = true,
                 .allow_unused = true});
  std::vector<Tensor> found{y.detach()};
  Tensor total = zeros({}, y.dtype());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    INFO("input " << i);
    CHECK(first[i].shape() == leaves[i].shape());
    CHECK(all_finite(first[i]));
    found.push_back(first[i].detach());
    total = total + (first[i] * first[i]).sum();
  }
  if (!total.requires_grad()) return found;
  const std::vector<Tensor> second = gradients({total}, leaves, {.allow_unused = true});
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    INFO("input " << i << ", second order");
    CHECK(second[i].shape() == leaves[i].shape());
    CHECK(all_finite(second[i]));
  }
  return found;
}

}  // namespace gradus::testing
