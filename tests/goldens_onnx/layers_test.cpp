// ONNX operators that layers are made of: matrix products, softmax and normalisation. Where ONNX
// names the first axis to normalise over, Gradus wants the sizes from there on.
#include "framework/ops/einsum.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/goldens_onnx/onnx_case.h"

namespace gradus::testing {
namespace {

// ---- products ----

Outputs gemm(const OnnxCase& in) {
  const Tensor a = in.flag("transA", false) ? in[0].transpose(0, 1) : in[0];
  const Tensor b = in.flag("transB", false) ? in[1].transpose(0, 1) : in[1];
  const Tensor product = matmul(a, b) * in.attr("alpha", 1.0);
  return {in[2].defined() ? product + in[2] * in.attr("beta", 1.0) : product};
}

// ---- normalisation ----

/// The axes that a normalisation works on, and their sizes.
Axes normalized_axes(const OnnxCase& in) {
  Axes axes;
  const Index first = checked_axis("axis", in.attr<Index>("axis", -1), in[0].dim());
  for (Index axis = first; axis < in[0].dim(); ++axis) axes.push_back(axis);
  return axes;
}
Shape normalized_shape(const OnnxCase& in) {
  Shape shape;
  for (const Index axis : normalized_axes(in)) shape.push_back(in[0].size(axis));
  return shape;
}

Outputs layer_normalization(const OnnxCase& in) {
  const double eps = in.attr("epsilon", 1e-5);
  const Axes axes = normalized_axes(in);
  return {layer_norm(in[0], normalized_shape(in), in[1], in[2], eps), mean(in[0], axes, true),
          rsqrt(var(in[0], axes, 0, true) + eps)};
}

Outputs rms_normalization(const OnnxCase& in) {
  return {rms_norm(in[0], normalized_shape(in), in[1], in.attr("epsilon", 1e-5))};
}

}  // namespace

OnnxOps onnx_layers() {
  return {
      {"MatMul", binary(matmul)},
      {"Gemm", gemm},
      {"Einsum",
       [](const OnnxCase& in) { return Outputs{einsum(in.attr("equation", ""), in.inputs())}; }},
      {"Softmax",
       [](const OnnxCase& in) { return Outputs{softmax(in[0], in.attr<Index>("axis", -1))}; }},
      {"LogSoftmax",
       [](const OnnxCase& in) { return Outputs{log_softmax(in[0], in.attr<Index>("axis", -1))}; }},
      {"LayerNormalization", layer_normalization},
      {"RMSNormalization", rms_normalization},
  };
}

}  // namespace gradus::testing
