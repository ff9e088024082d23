#include "tests/support/op_table.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <unordered_set>

#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/dropout.h"
#include "framework/ops/einsum.h"
#include "framework/ops/extreme.h"
#include "framework/ops/heads_internal.h"
#include "framework/ops/indexing.h"
#include "framework/ops/join.h"
#include "framework/ops/linear.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/rotary.h"
#include "framework/ops/self_attention_internal.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/support/tensors.h"

namespace gradus::testing {
namespace {

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

/// True in a pattern without symmetry.
Tensor mask_of(const Shape& shape) {
  std::vector<bool> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * i % 7 < 3;
  return from_vector(values, shape);
}

/// Numbers below `bound`, some of them twice.
Tensor indices_of(const Shape& shape, Index bound) {
  std::vector<Index> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Index>(i * i + 1) % bound;
  return from_vector(values, shape);
}

/// The gradient that embedding gives its weight, as a function of the gradient of its output.
Tensor gradient_of_embedding(const Tensor& gradient, Index padding_idx) {
  const EnableGrad on;
  const Shape& shape = gradient.shape();
  const Tensor weight = zeros({4, shape[shape.size() - 1]}, gradient.dtype()).requires_grad_();
  Shape of_indices = shape;
  of_indices.erase(shape.size() - 1);
  const Tensor y = embedding(indices_of(of_indices, 4), weight, padding_idx);
  return gradients({y}, {weight}, {.grad_outputs = {gradient}, .create_graph = true})[0];
}

// Sizes are those of attention: batch 2, heads 2, queries 3, keys 4, width 5, as far as a row needs
// them; no two axes of one tensor are equal by accident where an exchange should be noticed.
std::vector<OpRow> rows() {
  const OpInput x234{{2, 3, 4}};
  const OpInput x34{{3, 4}};
  const std::vector<Shape> none{{0, 3, 4}};
  std::vector<OpRow> all;
  const auto row = [&all](const char* name, const char* how, const Function& function,
                          const std::vector<OpInput>& inputs, const std::vector<Shape>& empty,
                          const Shape& empty_result) -> OpRow& {
    all.push_back({name, how, function, inputs, empty, empty_result});
    return all.back();
  };

  // ---- arithmetic ----
  const std::vector<Shape> two{{0, 3}, {0, 3}};
  const std::vector<OpInput> pair{x34, x34};
  const std::vector<OpInput> stretched{{{2, 1, 3}}, {{4, 1}}};
  const std::vector<Shape> stretched_empty{{0, 1, 3}, {4, 1}};
  row("add", "", [](const Inputs& in) { return in[0] + in[1]; }, pair, two, {0, 3});
  row("add", "broadcast", [](const Inputs& in) { return in[0] + in[1]; }, stretched,
      stretched_empty, {0, 4, 3});
  row("add", "a tensor without axes", [](const Inputs& in) { return in[0] + in[1]; }, {x34, {{}}},
      {{0, 3}, {}}, {0, 3});
  row("add", "itself", [](const Inputs& in) { return in[0] + in[0]; }, {x34}, {{0, 3}}, {0, 3});
  row("add", "a number", [](const Inputs& in) { return in[0] + 1.5; }, {x34}, {{0, 3}}, {0, 3});
  row("sub", "", [](const Inputs& in) { return in[0] - in[1]; }, pair, two, {0, 3});
  row("sub", "broadcast", [](const Inputs& in) { return in[0] - in[1]; }, stretched,
      stretched_empty, {0, 4, 3});
  row("sub", "a number", [](const Inputs& in) { return in[0] - 1.5; }, {x34}, {{0, 3}}, {0, 3});
  row("sub", "from a number", [](const Inputs& in) { return 1.5 - in[0]; }, {x34}, {{0, 3}},
      {0, 3});
  row("mul", "", [](const Inputs& in) { return in[0] * in[1]; }, pair, two, {0, 3});
  row("mul", "broadcast", [](const Inputs& in) { return in[0] * in[1]; }, stretched,
      stretched_empty, {0, 4, 3});
  row("mul", "itself", [](const Inputs& in) { return in[0] * in[0] * in[0]; }, {x34}, {{0, 3}},
      {0, 3});
  row("mul", "a number", [](const Inputs& in) { return in[0] * -2.5; }, {x34}, {{0, 3}}, {0, 3});
  row("div", "", [](const Inputs& in) { return in[0] / in[1]; },
      {x34, {{3, 4}, Draw::away_from_zero}}, two, {0, 3});
  row("div", "broadcast", [](const Inputs& in) { return in[0] / in[1]; },
      {{{2, 1, 3}}, {{4, 1}, Draw::positive}}, stretched_empty, {0, 4, 3});
  row("div", "by a number", [](const Inputs& in) { return in[0] / -2.5; }, {x34}, {{0, 3}}, {0, 3});
  row("div", "of a number", [](const Inputs& in) { return 2.5 / in[0]; },
      {{{3, 4}, Draw::away_from_zero}}, {{0, 3}}, {0, 3});
  row("neg", "", [](const Inputs& in) { return -in[0]; }, {x34}, {{0, 3}}, {0, 3});

  row("maximum", "", [](const Inputs& in) { return maximum(in[0], in[1]); }, pair, two, {0, 3});
  row("maximum", "broadcast", [](const Inputs& in) { return maximum(in[0], in[1]); }, stretched,
      stretched_empty, {0, 4, 3});
  row("minimum", "", [](const Inputs& in) { return minimum(in[0], in[1]); }, pair, two, {0, 3});

  // ---- unary ----
  const std::vector<OpInput> positive{{{3, 4}, Draw::positive}};
  row("exp", "", [](const Inputs& in) { return exp(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("log", "", [](const Inputs& in) { return log(in[0]); }, positive, {{0, 3}}, {0, 3});
  row("sqrt", "", [](const Inputs& in) { return sqrt(in[0]); }, positive, {{0, 3}}, {0, 3});
  row("tanh", "", [](const Inputs& in) { return tanh(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("sigmoid", "", [](const Inputs& in) { return sigmoid(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("relu", "", [](const Inputs& in) { return relu(in[0]); }, {{{3, 4}, Draw::away_from_zero}},
      {{0, 3}}, {0, 3});
  row("erf", "", [](const Inputs& in) { return erf(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("abs", "", [](const Inputs& in) { return abs(in[0]); }, {{{3, 4}, Draw::away_from_zero}},
      {{0, 3}}, {0, 3});
  row("sin", "", [](const Inputs& in) { return sin(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("cos", "", [](const Inputs& in) { return cos(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("gelu", "exact", [](const Inputs& in) { return gelu(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("gelu", "tanh", [](const Inputs& in) { return gelu(in[0], GeluForm::tanh); }, {x34}, {{0, 3}},
      {0, 3});
  row("pow", "", [](const Inputs& in) { return pow(in[0], 3); }, {x34}, {{0, 3}}, {0, 3});
  row("pow", "to a broken power", [](const Inputs& in) { return pow(in[0], -1.5); }, positive,
      {{0, 3}}, {0, 3});
  row("pow", "to the 0th", [](const Inputs& in) { return pow(in[0], 0) + in[0]; }, {x34}, {{0, 3}},
      {0, 3});
  row("pow", "by a tensor", [](const Inputs& in) { return pow(in[0], in[1]); },
      {{{3, 4}, Draw::positive}, x34}, two, {0, 3});
  row("pow", "broadcast", [](const Inputs& in) { return pow(in[0], in[1]); },
      {{{2, 1, 3}, Draw::positive}, {{4, 1}}}, stretched_empty, {0, 4, 3});
  row("square", "", [](const Inputs& in) { return square(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("reciprocal", "", [](const Inputs& in) { return reciprocal(in[0]); },
      {{{3, 4}, Draw::away_from_zero}}, {{0, 3}}, {0, 3});
  row("rsqrt", "", [](const Inputs& in) { return rsqrt(in[0]); }, positive, {{0, 3}}, {0, 3});
  const std::vector<OpInput> steps{{{3, 4}, Draw::apart}};  // none within 0.05 of a tenth
  row("clamp", "", [](const Inputs& in) { return square(clamp(in[0], -0.5, 0.5)); }, steps,
      {{0, 3}}, {0, 3});
  row("clamp", "from below", [](const Inputs& in) { return square(clamp(in[0], 0.1)); }, steps,
      {{0, 3}}, {0, 3});
  row("clamp", "from above",
      [](const Inputs& in) { return square(clamp(in[0], std::nullopt, 0.1)); }, steps, {{0, 3}},
      {0, 3});
  row("leaky_relu", "", [](const Inputs& in) { return leaky_relu(in[0], 0.3); },
      {{{3, 4}, Draw::away_from_zero}}, {{0, 3}}, {0, 3});
  row("silu", "", [](const Inputs& in) { return silu(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("softplus", "", [](const Inputs& in) { return softplus(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("softplus", "steeper", [](const Inputs& in) { return softplus(in[0], 2.5); }, {x34}, {{0, 3}},
      {0, 3});

  // ---- masking ----
  row("masked_fill", "",
      [](const Inputs& in) { return masked_fill(in[0], mask_of(in[0].shape()), -1.5); }, {x234},
      none, {0, 3, 4});
  row("masked_fill", "one mask for all",
      [](const Inputs& in) {
        return masked_fill(in[0], mask_of({3, 4}), 0);
      },
      {x234}, none, {0, 3, 4});
  row("masked_fill", "x stretched to the mask",
      [](const Inputs& in) {
        return masked_fill(in[0], mask_of({2, 3, 4}), 0);
      },
      {{{3, 1}}}, {}, {});
  row("where", "", [](const Inputs& in) { return where(mask_of(in[0].shape()), in[0], in[1]); },
      pair, two, {0, 3});
  row("where", "broadcast",
      [](const Inputs& in) {
        return where(mask_of({4, 1}), in[0], in[1]);
      },
      {{{2, 1, 3}}, {{4, 3}}}, {{0, 1, 3}, {4, 3}}, {0, 4, 3});

  // ---- views ----
  row("view", "",
      [](const Inputs& in) {
        return in[0].contiguous().view({in[0].size(0) * 3, 4});
      },
      {x234}, none, {0, 4});
  row("reshape", "of what lies transposed",
      [](const Inputs& in) { return in[0].transpose(0, 2).reshape({4 * 3 * in[0].size(0)}); },
      {x234}, none, {0});
  row("flatten", "", [](const Inputs& in) { return in[0].flatten(1); }, {x234}, none, {0, 12});
  row("permute", "",
      [](const Inputs& in) {
        return in[0].permute({2, 0, 1});
      },
      {x234}, none, {4, 0, 3});
  row("transpose", "", [](const Inputs& in) { return in[0].transpose(0, -1); }, {x234}, none,
      {4, 3, 0});
  row("split_heads", "", [](const Inputs& in) { return split_heads(in[0], 2); }, {x234}, none,
      {0, 2, 3, 2});
  row("merge_heads", "", [](const Inputs& in) { return merge_heads(in[0]); }, {{{2, 3, 4, 5}}},
      {{0, 3, 4, 5}}, {0, 4, 15});
  row("merge_heads", "of what was split",
      [](const Inputs& in) { return merge_heads(split_heads(in[0], 2) * 2.0); }, {x234}, none,
      {0, 3, 4});
  row("expand", "", [](const Inputs& in) { return in[0].expand({2, 3, 5}); }, {{{3, 1}}}, {}, {});
  row("expand", "to nothing",
      [](const Inputs& in) {
        return in[0].expand({-1, 4, -1});
      },
      {{{3, 1, 2}}}, {{0, 1, 2}}, {0, 4, 2});
  row("squeeze", "", [](const Inputs& in) { return in[0].squeeze(1); }, {{{3, 1, 4}}}, {{0, 1, 4}},
      {0, 4});
  row("unsqueeze", "", [](const Inputs& in) { return in[0].unsqueeze(1); }, {x34}, {{0, 4}},
      {0, 1, 4});
  row("slice", "", [](const Inputs& in) { return in[0].slice(1, 1, 4); }, {{{3, 5}}}, {{0, 5}},
      {0, 3});
  row("slice", "with steps", [](const Inputs& in) { return in[0].slice(1, 1, 7, 3); }, {{{3, 8}}},
      {{0, 8}}, {0, 2});
  row("slice_backward", "",
      [](const Inputs& in) {
        return slice_backward(in[0], {in[0].size(0), 8}, 1, 1, 3);
      },
      {{{3, 2}}}, {{0, 2}}, {0, 8});
  row("select", "", [](const Inputs& in) { return in[0].select(1, -2); }, {x234}, none, {0, 4});
  row("as_strided", "a window of three, step by step",
      [](const Inputs& in) {
        return in[0].contiguous().as_strided({in[0].size(0), 3, 3}, {5, 1, 1});
      },
      {{{2, 5}}}, {{0, 5}}, {0, 3, 3});
  row("as_strided", "with gaps, the axes turned",
      [](const Inputs& in) {
        return in[0].contiguous().as_strided({2, in[0].size(0)}, {3, 7});
      },
      {{{3, 7}}}, {{0, 7}}, {2, 0});
  row("clone", "", [](const Inputs& in) { return in[0].clone(); }, {x34}, {{0, 3}}, {0, 3});
  row("to", "",
      [](const Inputs& in) { return in[0].to(float32).to(float64).to(float32).to(in[0].dtype()); },
      {x34}, {{0, 3}}, {0, 3})
      .smooth = false;
  row("cat", "",
      [](const Inputs& in) {
        return cat({in[0], in[1], in[0]}, 1);
      },
      {{{3, 2}}, {{3, 4}}}, {{3, 0}, {3, 0}}, {3, 0});
  row("cat", "along the first axis",
      [](const Inputs& in) {
        return cat({in[0], in[1]});
      },
      {{{2, 3}}, {{1, 3}}}, {{0, 3}, {0, 3}}, {0, 3});
  row("stack", "",
      [](const Inputs& in) {
        return stack({in[0], in[1], in[0]}, 1);
      },
      pair, two, {0, 3, 3});
  row("split", "into even pieces, put together in another order",
      [](const Inputs& in) {
        const std::vector<Tensor> pieces = split(in[0], 2, 1);
        return cat({pieces[2], pieces[0]}, 1);
      },
      {{{3, 5}}}, {{0, 5}}, {0, 3});
  row("split", "into pieces of given sizes",
      [](const Inputs& in) {
        const std::vector<Tensor> pieces = split(in[0], {1, 0, 3}, -1);
        return pieces[2] * pieces[0];
      },
      {x34}, {{0, 4}}, {0, 3});
  row("chunk", "",
      [](const Inputs& in) {
        const std::vector<Tensor> pieces = chunk(in[0], 2, -1);
        return pieces[0] * pieces[1];
      },
      {x34}, {{0, 4}}, {0, 2});
  row("repeat", "",
      [](const Inputs& in) {
        return repeat(in[0], {2, 1, 3});
      },
      {x34}, {{0, 4}}, {2, 0, 12});
  row("repeat", "no time at all",
      [](const Inputs& in) {
        return sum(repeat(in[0], {0, 2})) + in[0];
      },
      {x34}, {{0, 4}}, {0, 4});
  row("movedim", "", [](const Inputs& in) { return movedim(in[0], 0, -1); }, {x234}, none,
      {3, 4, 0});
  row("flip", "", [](const Inputs& in) { return flip(in[0], {0, -1}); }, {x234}, none, {0, 3, 4});
  row("tril", "", [](const Inputs& in) { return tril(in[0], 1); }, {x234}, none, {0, 3, 4});
  row("triu", "", [](const Inputs& in) { return triu(in[0], -1); }, {x234}, {{2, 3, 0}}, {2, 3, 0});

  // ---- reductions ----
  row("sum", "over all", [](const Inputs& in) { return sum(in[0]); }, {x234}, none, {});
  row("sum", "over the last axis", [](const Inputs& in) { return sum(in[0], {-1}); }, {x234},
      {{2, 3, 0}}, {2, 3});
  row("sum", "over axes apart",
      [](const Inputs& in) {
        return sum(in[0], {0, 2}, true);
      },
      {x234}, none, {1, 3, 1});
  row("mean", "over all", [](const Inputs& in) { return mean(in[0]); }, {x234}, none, {});
  row("mean", "over the middle axis", [](const Inputs& in) { return mean(in[0], {1}); }, {x234},
      {{2, 0, 4}}, {2, 4});
  row("mean", "over axes apart",
      [](const Inputs& in) {
        return mean(in[0], {0, 2});
      },
      {x234}, none, {3});
  row("sum_to", "", [](const Inputs& in) { return sum_to(in[0], {3, 1}); }, {x234}, none, {3, 1});
  const std::vector<OpInput> apart{{{2, 3, 4}, Draw::apart}};
  row("amax", "over all", [](const Inputs& in) { return amax(in[0]); }, apart, {}, {});
  row("amax", "over axes apart",
      [](const Inputs& in) {
        return amax(in[0], {0, 2}, true);
      },
      apart, {{2, 0, 4}}, {1, 0, 1});
  row("max", "", [](const Inputs& in) { return max(in[0], 1).values; }, apart, none, {0, 4});
  row("max", "keepdim", [](const Inputs& in) { return max(in[0], -1, true).values; }, apart, none,
      {0, 3, 1});
  row("amin", "over axes apart",
      [](const Inputs& in) {
        return amin(in[0], {0, 2});
      },
      apart, {{2, 0, 4}}, {0});
  row("min", "", [](const Inputs& in) { return min(in[0], 1).values; }, apart, none, {0, 4});
  row("topk", "", [](const Inputs& in) { return topk(in[0], 2, 1).values; }, apart, none,
      {0, 2, 4});
  row("topk", "smallest", [](const Inputs& in) { return topk(in[0], 3, -1, false).values; }, apart,
      none, {0, 3, 3});
  row("prod", "over all", [](const Inputs& in) { return prod(in[0]); }, {x34}, {}, {});
  row("prod", "over an axis", [](const Inputs& in) { return prod(in[0], 1, true); }, {{{2, 5, 3}}},
      {{0, 5, 3}}, {0, 1, 3});
  row("var", "over all", [](const Inputs& in) { return var(in[0]); }, {x234}, none, {});
  row("var", "of a population, over axes apart",
      [](const Inputs& in) {
        return var(in[0], {0, 2}, 0, true);
      },
      {x234}, none, {1, 3, 1});
  row("std", "", [](const Inputs& in) { return std(in[0], {-1}); }, {x234}, none, {0, 3});
  row("norm", "", [](const Inputs& in) { return norm(in[0]); }, {x234}, none, {});
  row("norm", "of absolute values", [](const Inputs& in) { return norm(in[0], 1, {1}); },
      {{{2, 3, 4}, Draw::away_from_zero}}, none, {0, 4});
  row("norm", "of third powers",
      [](const Inputs& in) {
        return norm(in[0], 3, {0, 2}, true);
      },
      {{{2, 3, 4}, Draw::away_from_zero}}, none, {1, 3, 1});
  row("norm", "the largest", [](const Inputs& in) { return norm(in[0], kInf, {-1}); }, apart, none,
      {0, 3});
  row("logsumexp", "", [](const Inputs& in) { return logsumexp(in[0], {-1}); }, {x234}, {{2, 3, 0}},
      {2, 3});
  row("logsumexp", "over axes apart",
      [](const Inputs& in) {
        return logsumexp(in[0], {0, 2}, true);
      },
      {x234}, none, {1, 3, 1});
  row("cumsum", "", [](const Inputs& in) { return cumsum(in[0], -1); }, {x234}, none, {0, 3, 4});
  row("cumsum", "along another axis", [](const Inputs& in) { return cumsum(in[0], 1); }, {x234},
      {{2, 0, 4}}, {2, 0, 4});

  // ---- softmax ----
  const OpInput scores{{2, 2, 3, 4}};
  const std::vector<Shape> no_scores{{2, 2, 3, 0}};
  row("softmax", "", [](const Inputs& in) { return softmax(in[0], -1); }, {scores}, no_scores,
      {2, 2, 3, 0});
  row("softmax", "over another axis", [](const Inputs& in) { return softmax(in[0], 1); }, {x234},
      none, {0, 3, 4});
  row("softmax", "over the first axis", [](const Inputs& in) { return softmax(in[0], 0); }, {x34},
      {{0, 4}}, {0, 4})
      .expandable = false;
  row("softmax", "with a row that sees nothing",
      [](const Inputs& in) {
        const Tensor hidden = tensor({{1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}}, boolean);
        return softmax(masked_fill(in[0], hidden, -kInf), -1, WhenAllHidden::zero);
      },
      {scores}, {{0, 2, 3, 4}}, {0, 2, 3, 4});
  row("softmax_backward", "", [](const Inputs& in) { return softmax_backward(in[0], in[1], 1); },
      {x234, x234}, {{0, 3, 4}, {0, 3, 4}}, {0, 3, 4});
  row("log_softmax", "", [](const Inputs& in) { return log_softmax(in[0], -1); }, {x34}, {{3, 0}},
      {3, 0});
  row("log_softmax", "over another axis", [](const Inputs& in) { return log_softmax(in[0], 1); },
      {x234}, none, {0, 3, 4});

  // ---- products ----
  row("matmul", "", [](const Inputs& in) { return matmul(in[0], in[1]); }, {x34, {{4, 5}}},
      {{0, 4}, {4, 5}}, {0, 5});
  row("matmul", "stacks", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {scores, {{2, 2, 4, 5}}}, {{2, 2, 3, 0}, {2, 2, 0, 5}}, {2, 2, 3, 5});
  row("matmul", "stacks that broadcast", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {{{2, 1, 3, 4}}, {{3, 4, 2}}}, {{0, 1, 3, 4}, {3, 4, 2}}, {0, 3, 3, 2});
  row("matmul", "a stack by one matrix", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {x234, {{4, 5}}}, {{2, 3, 0}, {0, 5}}, {2, 3, 5});
  row("matmul", "one matrix by a stack", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {x34, {{2, 4, 5}}}, {{3, 4}, {0, 4, 5}}, {0, 3, 5});
  row("matmul", "two vectors", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {{{5}}, {{5}}}, {{0}, {0}}, {});
  row("matmul", "a vector by a stack", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {{{4}}, {{2, 4, 5}}}, {{4}, {0, 4, 5}}, {0, 5});
  row("matmul", "a stack by a vector", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {x234, {{4}}}, {{0, 3, 4}, {4}}, {0, 3});
  row("matmul", "by its own transpose",
      [](const Inputs& in) { return matmul(in[0], in[0].transpose(-2, -1)); }, {x234}, none,
      {0, 3, 3});
  row("linear", "", [](const Inputs& in) { return linear(in[0], in[1], in[2]); },
      {x234, {{5, 4}}, {{5}}}, {{0, 3, 4}, {5, 4}, {5}}, {0, 3, 5});
  row("linear", "of a vector", [](const Inputs& in) { return linear(in[0], in[1], in[2]); },
      {{{4}}, {{5, 4}}, {{5}}}, {{0}, {5, 0}, {5}}, {5});
  row("einsum", "a product of stacks",
      [](const Inputs& in) {
        return einsum("bhqd,bhkd->bhqk", {in[0], in[1]});
      },
      {{{2, 2, 3, 5}}, {{2, 2, 4, 5}}}, {{0, 2, 3, 5}, {0, 2, 4, 5}}, {0, 2, 3, 4});
  row("einsum", "with axes that broadcast and letters left out",
      [](const Inputs& in) {
        return einsum("...ij, jkm -> k...i", {in[0], in[1]});
      },
      {x234, {{4, 5, 2}}}, {{0, 3, 4}, {4, 5, 2}}, {5, 0, 3});
  row("einsum", "an outer product",
      [](const Inputs& in) {
        return einsum("i,j", {in[0], in[1]});
      },
      {{{3}}, {{4}}}, {{3}, {0}}, {3, 0});
  row("einsum", "down to one number",
      [](const Inputs& in) {
        return einsum("ij,ij->", {in[0], in[1]});
      },
      {x34, {{3, 4}}}, two, {});
  row("einsum", "a diagonal", [](const Inputs& in) { return einsum("iji->ji", {in[0]}); },
      {{{3, 4, 3}}}, {{3, 0, 3}}, {0, 3});
  row("einsum", "one operand, summed and turned",
      [](const Inputs& in) { return einsum("ijk->ki", {in[0]}); }, {x234}, none, {4, 0});

  // ---- attention ----
  const std::vector<OpInput> qkv{{{2, 2, 3, 5}}, {{2, 2, 4, 5}}, {{2, 2, 4, 2}}};
  const std::vector<Shape> no_queries{{2, 2, 0, 5}, {2, 2, 4, 5}, {2, 2, 4, 2}};
  const std::vector<Shape> no_keys{{2, 2, 3, 5}, {2, 2, 0, 5}, {2, 2, 0, 2}};
  row("scaled_dot_product_attention", "",
      [](const Inputs& in) { return scaled_dot_product_attention(in[0], in[1], in[2]); }, qkv,
      no_queries, {2, 2, 0, 2});
  row("scaled_dot_product_attention", "causal, with a scale",
      [](const Inputs& in) {
        return scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true, .scale = 0.7});
      },
      qkv, no_keys, {2, 2, 3, 2});
  row("scaled_dot_product_attention", "with a query that sees nothing",
      [](const Inputs& in) {
        const Tensor hidden = tensor({{1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}}, boolean);
        return scaled_dot_product_attention(in[0], in[1], in[2],
                                            {.mask = AttentionMask::hide_where(hidden)});
      },
      qkv, {{0, 2, 3, 5}, {0, 2, 4, 5}, {0, 2, 4, 2}}, {0, 2, 3, 2});
  row("scaled_dot_product_attention", "grouped, with dropped weights",
      [](const Inputs& in) {
        manual_seed(3);
        return scaled_dot_product_attention(in[0], in[1], in[2],
                                            {.dropout_p = 0.3, .enable_gqa = true});
      },
      {{{1, 4, 3, 2}}, {{1, 2, 4, 2}}, {{1, 2, 4, 3}}}, {{0, 4, 3, 2}, {0, 2, 4, 2}, {0, 2, 4, 3}},
      {0, 4, 3, 3});

  row("self_attention", "causal, with a scale",
      [](const Inputs& in) {
        return self_attention(in[0], {in[1], in[4]}, {in[2], in[5]}, {in[3], in[6]}, {2, 2},
                              {.is_causal = true, .scale = 0.1});
      },
      {{{2, 3, 5}}, {{8, 5}}, {{8, 5}}, {{8, 5}}, {{8}}, {{8}}, {{8}}},
      {{2, 0, 5}, {8, 5}, {8, 5}, {8, 5}, {8}, {8}, {8}}, {2, 0, 8});
  row("self_attention", "grouped, without biases, with dropped weights",
      [](const Inputs& in) {
        manual_seed(3);
        const Tensor no_bias;
        return self_attention(in[0], {in[1], no_bias}, {in[2], no_bias}, {in[3], no_bias}, {4, 2},
                              {.dropout_p = 0.3, .enable_gqa = true});
      },
      {{{1, 3, 5}}, {{8, 5}}, {{4, 5}}, {{4, 5}}}, {{0, 3, 5}, {8, 5}, {4, 5}, {4, 5}}, {0, 3, 8});

  // ---- by index ----
  row("embedding", "",
      [](const Inputs& in) {
        return embedding(indices_of({2, 3}, 4), in[0]);
      },
      {{{4, 5}}}, {{4, 0}}, {2, 3, 0});
  row("embedding_backward", "",
      [](const Inputs& in) { return gradient_of_embedding(in[0], kNoPadding); }, {x234}, none,
      {4, 4});
  row("embedding_backward", "with padding",
      [](const Inputs& in) { return gradient_of_embedding(in[0], 1); }, {x234}, none, {4, 4});
  row("gather", "",
      [](const Inputs& in) {
        return gather(in[0], 1, indices_of({in[0].size(0), 5, 4}, 3));
      },
      {x234}, none, {0, 5, 4});
  row("gather", "from a part",
      [](const Inputs& in) {
        return gather(in[0], -1, indices_of({1, 2, 3}, 4));
      },
      {x234}, {}, {});
  row("scatter_add", "",
      [](const Inputs& in) { return scatter_add(in[0], 1, indices_of(in[1].shape(), 3), in[1]); },
      {x234, {{2, 5, 4}}}, {{0, 3, 4}, {0, 5, 4}}, {0, 3, 4});
  row("scatter_add", "into a part",
      [](const Inputs& in) { return scatter_add(in[0], -1, indices_of(in[1].shape(), 4), in[1]); },
      {x234, {{1, 2, 3}}}, {{2, 3, 4}, {2, 0, 4}}, {2, 3, 4});
  row("index_select", "",
      [](const Inputs& in) { return index_select(in[0], 1, indices_of({5}, 3)); }, {x234}, none,
      {0, 5, 4});

  // ---- normalisation ----
  row("layer_norm", "without weight and bias",
      [](const Inputs& in) { return layer_norm(in[0], {4}); }, {x234}, none, {0, 3, 4});
  row("layer_norm", "without bias", [](const Inputs& in) { return layer_norm(in[0], {4}, in[1]); },
      {x234, {{4}}}, {{0, 3, 4}, {4}}, {0, 3, 4})
      .expandable = false;
  row("layer_norm", "without weight",
      [](const Inputs& in) { return layer_norm(in[0], {4}, {}, in[1]); }, {x234, {{4}}},
      {{0, 3, 4}, {4}}, {0, 3, 4});
  row("layer_norm", "", [](const Inputs& in) { return layer_norm(in[0], {4}, in[1], in[2]); },
      {x234, {{4}}, {{4}}}, {{0, 3, 4}, {4}, {4}}, {0, 3, 4})
      .expandable = false;  // weight and bias of one number each
  row("layer_norm", "over two axes",
      [](const Inputs& in) {
        return layer_norm(in[0], {3, 4}, in[1], in[2], 0.1);
      },
      {x234, {{3, 4}}, {{3, 4}}}, {{0, 3, 4}, {3, 4}, {3, 4}}, {0, 3, 4});
  row("rms_norm", "", [](const Inputs& in) { return rms_norm(in[0], {4}, in[1]); }, {x234, {{4}}},
      {{0, 3, 4}, {4}}, {0, 3, 4});
  row("rms_norm", "over two axes, without weights",
      [](const Inputs& in) {
        return rms_norm(in[0], {3, 4}, {}, 0.1);
      },
      {x234}, none, {0, 3, 4});

  // ---- positions ----
  row("rotary_embedding", "", [](const Inputs& in) { return rotary_embedding(in[0], 2); }, {x234},
      none, {0, 3, 4});
  row("rotary_embedding", "interleaved, with angles of one's own",
      [](const Inputs& in) {
        return rotary_embedding(in[0], in[1], in[2], RotaryPairs::interleaved);
      },
      {x234, {{3, 2}}, {{3, 2}}}, {{0, 3, 4}, {3, 2}, {3, 2}}, {0, 3, 4});

  // ---- losses ----
  row("cross_entropy", "",
      [](const Inputs& in) { return cross_entropy(in[0], indices_of({in[0].size(0)}, 4)); }, {x34},
      {}, {});
  row("cross_entropy", "smoothed, with ignored targets, over more axes",
      [](const Inputs& in) {
        return cross_entropy(
            in[0], indices_of({in[0].size(0), 4}, 3),
            {.ignore_index = 2, .reduction = Reduction::none, .label_smoothing = 0.2});
      },
      {x234}, none, {0, 4});
  const auto weights = [] { return tensor({0.5, 2, 1, 0.25}, float64); };
  row("nll_loss", "",
      [](const Inputs& in) { return nll_loss(in[0], indices_of({in[0].size(0)}, 4)); }, {x34}, {},
      {});
  row("nll_loss", "weighted, with ignored targets",
      [weights](const Inputs& in) {
        return nll_loss(in[0], indices_of({in[0].size(0)}, 4),
                        {.weight = weights().to(in[0].dtype()),
                         .ignore_index = 2,
                         .reduction = Reduction::none});
      },
      {{{5, 4}}}, {{0, 4}}, {0});
  row("cross_entropy", "weighted and smoothed",
      [weights](const Inputs& in) {
        return cross_entropy(in[0], indices_of({in[0].size(0)}, 4),
                             {.weight = weights().to(in[0].dtype()), .label_smoothing = 0.2});
      },
      {{{5, 4}}}, {{0, 4}}, {});
  row("cross_entropy", "of distributions",
      [weights](const Inputs& in) {
        return cross_entropy(in[0], in[1],
                             {.weight = weights().to(in[0].dtype()), .label_smoothing = 0.2});
      },
      {x34, {{3, 4}, Draw::positive}}, {{0, 4}, {0, 4}}, {});
  row("mse_loss", "", [](const Inputs& in) { return mse_loss(in[0], in[1]); }, pair, two, {});
  row("mse_loss", "broadcast, without reduction",
      [](const Inputs& in) { return mse_loss(in[0], in[1], Reduction::none); }, stretched,
      stretched_empty, {0, 4, 3});
  row("binary_cross_entropy_with_logits", "",
      [](const Inputs& in) { return binary_cross_entropy_with_logits(in[0], in[1]); }, pair, two,
      {});
  row("binary_cross_entropy_with_logits", "weighted",
      [weights](const Inputs& in) {
        const Tensor w = weights().to(in[0].dtype());
        return binary_cross_entropy_with_logits(
            in[0], in[1], {.weight = w, .reduction = Reduction::sum, .pos_weight = w + 1.0});
      },
      pair, {{0, 4}, {0, 4}}, {});
  row("kl_div", "", [](const Inputs& in) { return kl_div(in[0], in[1]); },
      {x34, {{3, 4}, Draw::positive}}, two, {});
  row("kl_div", "of a logarithm",
      [](const Inputs& in) { return kl_div(in[0], in[1], Reduction::none, true); }, pair, two,
      {0, 3});

  // ---- dropout ----
  row("dropout", "", [](const Inputs& in) { return dropout_with_key(in[0], 0.4, 12345); }, {x234},
      none, {0, 3, 4});
  return all;
}

Tensor drawn(const OpInput& input, Generator& generator) {
  const Tensor normal = randn(input.shape, float64, &generator);
  const Tensor size = rand(input.shape, float64, &generator) * 1.5 + 0.5;
  switch (input.draw) {
    case Draw::normal: return normal;
    case Draw::positive: return size;
    case Draw::away_from_zero: return where(mask_of(input.shape), size, -size);
    case Draw::apart: {
      const Tensor order = randperm(normal.numel(), &generator).to(float64);
      return ((order - static_cast<double>(normal.numel()) / 2) * 0.2 + 0.05).view(input.shape);
    }
  }
  return normal;
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The root of the tree: two folders above this file.
std::filesystem::path source_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> all = rows();
  return all;
}

std::vector<Tensor> sample_inputs(const OpRow& row) {
  std::uint64_t seed = 1;
  for (const char letter : row.name + row.how)
    seed = seed * 31 + static_cast<unsigned char>(letter);
  Generator generator(seed);
  std::vector<Tensor> inputs;
  for (const OpInput& input : row.inputs) inputs.push_back(drawn(input, generator));
  return inputs;
}

std::vector<Tensor> empty_inputs(const OpRow& row) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : row.empty_inputs) inputs.push_back(zeros(shape, float64));
  return inputs;
}

void collect_steps(const Tensor& output, std::set<std::string>& names) {
  std::vector<const Node*> waiting;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const Node* node) {
    if (node && seen.insert(node).second) waiting.push_back(node);
  };
  visit(output.impl().node.get());
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (!node->is_leaf()) names.insert(node->name());
    for (const Node::Input& input : node->inputs()) visit(input.node.get());
  }
}

std::set<std::string> recorded_names() {
  // extreme() is handed the name that it records, and Function one of its user's.
  static const std::set<std::string> without_literal = {"extreme.cpp", "function.cpp"};
  static const std::regex call(R"re(\b(?:record|extreme)\(\s*"([^"]+)")re");
  static const std::regex call_without_name(R"re(\brecord\(\s*[A-Za-z_])re");
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_folder() / "framework")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string source = contents_of(entry.path());
    if (!without_literal.contains(entry.path().filename().string()) &&
        std::regex_search(source, call_without_name)) {
      throw std::runtime_error(entry.path().string() + " records a step whose name is no literal");
    }
    for (std::sregex_iterator match(source.begin(), source.end(), call), end; match != end;
         ++match) {
      names.insert((*match)[1]);
    }
  }
  return names;
}

}  // namespace gradus::testing
