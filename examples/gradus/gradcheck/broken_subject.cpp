#include <gradus/gradus.h>

#include <cmath>

#include "examples/gradus/gradcheck/subject.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

/// The scores of attention with 1 / sqrt(d) in forward, and forgotten in backward.
Function scores_with_a_fault(double scale) {
  const auto transposed = [](const Tensor& x) { return x.transpose(-2, -1); };
  return Function(
      {.name = "scores",
       .forward = [=](const Inputs& in) { return matmul(in[0], transposed(in[1])) * scale; },
       .rules = {[](const Vjp& v) { return matmul(v.grad(), v.input(1)); },
                 [=](const Vjp& v) { return matmul(transposed(v.grad()), v.input(0)); }}});
}

Checkable broken(const SubjectSizes& sizes) {
  const Shape shape{sizes.batch, sizes.length, sizes.dim};
  const Function scores = scores_with_a_fault(1.0 / std::sqrt(static_cast<double>(sizes.dim)));
  return {[scores](const Tensor& query, const Tensor& key, const Tensor& value) {
            return matmul(softmax(scores({query, key}), -1), value);
          },
          {randn(shape, float64), randn(shape, float64), randn(shape, float64)},
          {"query", "key", "value"}};
}

}  // namespace

Subject broken_subject() {
  return {"broken", "attention with a factor forgotten in backward: what a failure looks like",
          broken, false};
}

}  // namespace examples
