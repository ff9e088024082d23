// ONNX operators that work element by element: arithmetic, functions of one variable, activations,
// comparisons and logic. An integer power or quotient goes through float64, where ONNX truncates.
#include <optional>

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/masking.h"
#include "framework/ops/unary.h"
#include "tests/goldens_onnx/onnx_case.h"

namespace gradus::testing {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);

Tensor plus(const Tensor& x, const Tensor& other) { return x + other; }

/// The operator of any number of tensors that takes them two at a time.
Tensor folded(Binary op, const OnnxCase& in) {
  Tensor y = in[0];
  for (const Tensor& x : in.inputs(1)) y = op(y, x);
  return y;
}
OnnxOp fold(Binary op) {
  return [op](const OnnxCase& in) { return Outputs{folded(op, in)}; };
}

Outputs mean_of(const OnnxCase& in) {
  return {folded(plus, in) / static_cast<double>(in.inputs().size())};
}

Tensor quotient(const Tensor& x, const Tensor& other) {
  if (is_floating(x.dtype())) return x / other;
  return (x.to(float64) / other.to(float64)).to(x.dtype());
}

Tensor power(const Tensor& x, const Tensor& exponent) {
  if (is_floating(x.dtype())) return pow(x, exponent.to(x.dtype()));
  return pow(x.to(float64), exponent.to(float64)).to(x.dtype());
}

Outputs clip(const OnnxCase& in) {
  const auto bound = [&in](std::size_t i) {
    return in[i].defined() ? std::optional<double>(in[i].item()) : std::nullopt;
  };
  return {clamp(in[0], bound(1), bound(2))};
}

Outputs is_infinite(const OnnxCase& in) {
  const Tensor& x = in[0];
  Tensor y = isinf(x);
  if (!in.flag("detect_positive", true)) y = logical_and(y, lt(x, 0.0));
  if (!in.flag("detect_negative", true)) y = logical_and(y, gt(x, 0.0));
  return {y};
}

// ---- activations ----

Outputs elu(const OnnxCase& in) {
  const Tensor x = in[0];
  return {where(gt(x, 0.0), x, (exp(x) - 1.0) * in.attr("alpha", 1.0))};
}

Outputs hard_sigmoid(const OnnxCase& in) {
  return {clamp(in[0] * in.attr("alpha", 0.2) + in.attr("beta", 0.5), 0.0, 1.0)};
}

Tensor hard_swish(const Tensor& x) { return x * clamp(x / 6.0 + 0.5, 0.0, 1.0); }

Tensor softsign(const Tensor& x) { return x / (abs(x) + 1.0); }

Tensor swish(const Tensor& x, double alpha) { return x * sigmoid(x * alpha); }

Outputs gelu_of(const OnnxCase& in) {
  return {gelu(in[0], in.attr("approximate", "none") == "tanh" ? GeluForm::tanh : GeluForm::exact)};
}

}  // namespace

OnnxOps onnx_elementwise() {
  return {
      // ---- arithmetic ----
      {"Add", binary(plus)},
      {"Sub", binary([](const Tensor& x, const Tensor& other) { return x - other; })},
      {"Mul", binary(mul)},
      {"Div", binary(quotient)},
      {"Pow", binary(power)},
      {"Sum", fold(plus)},
      {"Mean", mean_of},
      {"Max", fold(maximum)},
      {"Min", fold(minimum)},
      // ---- of one variable ----
      {"Abs", unary(abs)},
      {"Neg", unary(neg)},
      {"Sign", unary(sign)},
      {"Ceil", unary(ceil)},
      {"Floor", unary(floor)},
      {"Clip", clip},
      {"Reciprocal", unary(reciprocal)},
      {"Sqrt", unary(sqrt)},
      {"Exp", unary(exp)},
      {"Log", unary(log)},
      {"Sin", unary(sin)},
      {"Cos", unary(cos)},
      // ---- activations ----
      {"Tanh", unary(tanh)},
      {"Sigmoid", unary(sigmoid)},
      {"Relu", unary(relu)},
      {"LeakyRelu",
       [](const OnnxCase& in) { return Outputs{leaky_relu(in[0], in.attr("alpha", 0.01))}; }},
      {"Elu", elu},
      {"HardSigmoid", hard_sigmoid},
      {"HardSwish", unary(hard_swish)},
      {"Softplus", unary([](const Tensor& x) { return softplus(x); })},
      {"Softsign", unary(softsign)},
      {"Swish", [](const OnnxCase& in) { return Outputs{swish(in[0], in.attr("alpha", 1.0))}; }},
      {"SwiGLU",
       [](const OnnxCase& in) { return Outputs{swish(in[0], in.attr("alpha", 1.0)) * in[1]}; }},
      {"Gelu", gelu_of},
      // ---- comparisons, logic and choice ----
      {"Equal", binary(eq)},
      {"Greater", binary(gt)},
      {"GreaterOrEqual", binary(ge)},
      {"Less", binary(lt)},
      {"LessOrEqual", binary(le)},
      {"And", binary(logical_and)},
      {"Or", binary(logical_or)},
      {"Xor", binary(logical_xor)},
      {"Not", unary(logical_not)},
      {"IsNaN", unary(isnan)},
      {"IsInf", is_infinite},
      {"Where", [](const OnnxCase& in) { return Outputs{where(in[0], in[1], in[2])}; }},
  };
}

}  // namespace gradus::testing
