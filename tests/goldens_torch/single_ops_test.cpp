// Goldens of PyTorch: single ops, and the chains of products that second order is tested by.
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/extreme.h"
#include "framework/ops/indexing.h"
#include "framework/ops/linear.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/goldens_torch/torch_case.h"

namespace gradus::testing {
namespace {

/// The axes of a reduction; null and, in Gradus, the empty list mean all of them.
Axes axes_of(const TorchCase& in) {
  return in.attr("dim").is_null() ? Axes{} : list_from(in.attr("dim"));
}
bool keepdim_of(const TorchCase& in) { return in.attr("keepdim").get<bool>(); }

/// The op that reduces over a list of axes.
TorchOp reduction(Tensor (*op)(const Tensor&, const Axes&, bool)) {
  return [op](const TorchCase& in) { return Outputs{op(in["x"], axes_of(in), keepdim_of(in))}; };
}

Outputs max_of(const TorchCase& in) {
  const MaxResult result = max(in["x"], in.index("dim"), keepdim_of(in));
  return {result.values, result.indices};
}

Outputs var_of(const TorchCase& in) {
  return {var(in["x"], axes_of(in), in.number("correction"), keepdim_of(in))};
}

Outputs layer_norm_of(const TorchCase& in) {
  return {layer_norm(in["x"], list_from(in.attr("normalized_shape")), in.optional("weight"),
                     in.optional("bias"), in.number("eps"))};
}

Outputs gelu_of(const TorchCase& in) {
  return {gelu(in["x"], in.attr("approximate") == "tanh" ? GeluForm::tanh : GeluForm::exact)};
}

Outputs cross_entropy_of(const TorchCase& in) {
  const std::map<std::string, Reduction> reductions = {
      {"none", Reduction::none}, {"sum", Reduction::sum}, {"mean", Reduction::mean}};
  return {
      cross_entropy(in["input"], in["target"],
                    {.weight = in.optional("weight"),
                     .ignore_index = in.has_attr("ignore_index") ? in.index("ignore_index") : -100,
                     .reduction = reductions.at(in.attr("reduction")),
                     .label_smoothing = in.number("label_smoothing")})};
}

Outputs embedding_of(const TorchCase& in) {
  const nlohmann::json& padding = in.attr("padding_idx");
  return {embedding(in["indices"], in["weight"],
                    padding.is_null() ? kNoPadding : padding.get<Index>())};
}

/// By composition: the mask says what is kept.
Outputs dropout_of(const TorchCase& in) {
  return {masked_fill(in["x"], logical_not(in["mask"]), 0) / (1 - in.number("p"))};
}

Outputs matmul_chain(const TorchCase& in) {
  const std::string formula = in.attr("formula");
  if (formula == "a@b") return {matmul(in["a"], in["b"])};
  if (formula == "tanh(x@w1)@w2") return {matmul(tanh(matmul(in["x"], in["w1"])), in["w2"])};
  throw std::runtime_error("a formula that this test does not know: " + formula);
}

}  // namespace

TorchOps torch_single_ops() {
  return {
      {"softmax", [](const TorchCase& in) { return Outputs{softmax(in["x"], in.index("dim"))}; }},
      {"log_softmax",
       [](const TorchCase& in) { return Outputs{log_softmax(in["x"], in.index("dim"))}; }},
      {"layer_norm", layer_norm_of},
      {"gelu", gelu_of},
      {"silu", [](const TorchCase& in) { return Outputs{silu(in["x"])}; }},
      {"relu", [](const TorchCase& in) { return Outputs{relu(in["x"])}; }},
      {"tanh",
       [](const TorchCase& in) {
         return Outputs{tanh(in.has_attr("formula") ? square(in["x"]) : in["x"])};
       }},
      {"embedding", embedding_of},
      {"cross_entropy", cross_entropy_of},
      {"linear",
       [](const TorchCase& in) {
         return Outputs{linear(in["x"], in["weight"], in.optional("bias"))};
       }},
      {"matmul", [](const TorchCase& in) { return Outputs{matmul(in["a"], in["b"])}; }},
      {"matmul_chain", matmul_chain},
      {"masked_fill",
       [](const TorchCase& in) {
         return Outputs{masked_fill(in["x"], in["mask"], in.number("value"))};
       }},
      {"where",
       [](const TorchCase& in) { return Outputs{where(in["condition"], in["a"], in["b"])}; }},
      {"sum", reduction(sum)},
      {"mean", reduction(mean)},
      {"logsumexp", reduction(logsumexp)},
      {"amax", reduction(amax)},
      {"max_dim", max_of},
      {"var", var_of},
      {"dropout_with_mask", dropout_of},
  };
}

}  // namespace gradus::testing
