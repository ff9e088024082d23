// Errors: what every public function says to wrong arguments, word for word: one table of calls,
// the kind of error that each throws, and its text. Of each sort of mistake (an undefined tensor,
// sizes, axes, nothing to choose from, element types, numbers outside their range, the tape) every
// function that can meet it has a row; a test below reads the headers and misses those that have
// none.
#include "framework/core/error.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/function.h"
#include "framework/autograd/tape.h"
#include "framework/autograd/trace.h"
#include "framework/core/parallel.h"
#include "framework/gradcheck/gradcheck.h"
#include "framework/io/checkpoint_folder.h"
#include "framework/io/file.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/compare.h"
#include "framework/ops/dropout.h"
#include "framework/ops/einsum.h"
#include "framework/ops/extreme.h"
#include "framework/ops/indexing.h"
#include "framework/ops/join.h"
#include "framework/ops/linear.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/rotary.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "framework/optim/adam.h"
#include "framework/optim/clip.h"
#include "framework/optim/schedule.h"
#include "framework/optim/sgd.h"
#include "layers/activation.h"
#include "layers/embedding.h"
#include "layers/generation.h"
#include "layers/init.h"
#include "layers/inspect.h"
#include "layers/positional_encoding.h"
#include "layers/rms_norm.h"
#include "layers/sequential.h"
#include "layers/transformer.h"
#include "layers/weights.h"
#include "tests/support/catch.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

struct Expected {
  std::type_index type;
  std::string text;
};

struct Row {
  std::string function;
  std::function<void()> call;
  Expected expected;
};
using Rows = std::vector<Row>;

template <class E>
Expected error(const std::string& text) {
  return {typeid(E), text};
}

// ---- texts that many functions share ----

Expected undefined() {
  return error<ValueError>(
      "tensor: this tensor is undefined\n"
      "  hint   Tensor() holds nothing; zeros(shape) makes one with numbers");
}

Expected too_many() {
  return error<ShapeError>("shape: (4294967296, 4294967296) has too many elements");
}

Expected no_broadcast(const std::string& op) {
  return error<ShapeError>(op +
                           ": shapes do not broadcast (3 vs 2 on axis 1)\n"
                           "  got    x (2, 3), other (2,)\n"
                           "  need   equal sizes on every axis, counted from the last, or a 1");
}

Expected no_axis_2(const std::string& op) {
  return error<ShapeError>(op + ": axis 2 is outside -2..1 (rank 2)");
}

/// Of a causal mask for two queries and two keys.
Expected mask_does_not_fit(const std::string& scores) {
  return error<ShapeError>(
      "attention: the mask does not fit the scores"
      "\n  got    mask (2, 2) bool; scores would be " +
      scores +
      ": batch, head, query, key"
      "\n  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)"
      "\n  hint   a (batch, key) mask marks padding: AttentionMask::padding(mask)");
}

Expected not_floating(const std::string& op, const std::string& given) {
  const std::string dtype = given.substr(given.rfind(' ') + 1);
  return error<DTypeError>(op + ": needs a floating tensor, not " + dtype + "\n  got    x " +
                           given + "\n  hint   x.to(float32)");
}

Expected mixed(const std::string& op) {
  return error<DTypeError>(op +
                           ": float32 and float64 are not mixed silently\n"
                           "  got    x (2, 3) float32, other (2, 3) float64\n"
                           "  hint   other.to(float32), or model.to(float64) for gradient checks");
}

// ---- operands that most rows begin with ----

constexpr Index kHuge = Index{1} << 32;
constexpr Index kLargest = std::numeric_limits<Index>::max();

const Tensor nothing;
Tensor x, mask, index, heads, wanted, vector;

/// Not before main: the choice of kernels, which may throw, is for the tests to make.
void make_operands() {
  x = zeros({2, 3});
  mask = zeros({2, 3}, boolean);
  index = zeros({2}, int64);
  heads = zeros({1, 4, 3, 4});  // (B, H, length, d)
  wanted = leaf({1, 2, 3});     // wants a gradient
  vector = zeros({4});
}

Rows undefined_tensors() {
  return {
      {"exp", [] { exp(nothing); }, undefined()},
      {"log", [] { log(nothing); }, undefined()},
      {"sqrt", [] { sqrt(nothing); }, undefined()},
      {"rsqrt", [] { rsqrt(nothing); }, undefined()},
      {"reciprocal", [] { reciprocal(nothing); }, undefined()},
      {"square", [] { square(nothing); }, undefined()},
      {"sin", [] { sin(nothing); }, undefined()},
      {"cos", [] { cos(nothing); }, undefined()},
      {"abs", [] { gradus::abs(nothing); }, undefined()},
      {"sign", [] { sign(nothing); }, undefined()},
      {"floor", [] { floor(nothing); }, undefined()},
      {"ceil", [] { ceil(nothing); }, undefined()},
      {"erf", [] { erf(nothing); }, undefined()},
      {"tanh", [] { tanh(nothing); }, undefined()},
      {"sigmoid", [] { sigmoid(nothing); }, undefined()},
      {"relu", [] { relu(nothing); }, undefined()},
      {"leaky_relu", [] { leaky_relu(nothing); }, undefined()},
      {"silu", [] { silu(nothing); }, undefined()},
      {"softplus", [] { softplus(nothing); }, undefined()},
      {"gelu", [] { gelu(nothing); }, undefined()},
      {"neg", [] { neg(nothing); }, undefined()},
      {"isnan", [] { isnan(nothing); }, undefined()},
      {"isinf", [] { isinf(nothing); }, undefined()},
      {"logical_not", [] { logical_not(nothing); }, undefined()},
      {"any", [] { any(nothing); }, undefined()},
      {"all", [] { all(nothing); }, undefined()},
      {"zeros_like", [] { zeros_like(nothing); }, undefined()},
      {"ones_like", [] { ones_like(nothing); }, undefined()},
      {"empty_like", [] { empty_like(nothing); }, undefined()},
      {"sum", [] { sum(nothing); }, undefined()},
      {"mean", [] { mean(nothing); }, undefined()},
      {"prod", [] { prod(nothing); }, undefined()},
      {"var", [] { var(nothing); }, undefined()},
      {"std", [] { gradus::std(nothing); }, undefined()},
      {"norm", [] { norm(nothing); }, undefined()},
      {"amax", [] { amax(nothing); }, undefined()},
      {"amin", [] { amin(nothing); }, undefined()},
      {"max", [] { max(nothing); }, undefined()},
      {"min", [] { min(nothing); }, undefined()},
      {"argmax", [] { argmax(nothing); }, undefined()},
      {"argmin", [] { argmin(nothing); }, undefined()},
      {"flip", [] { flip(nothing, {0}); }, undefined()},
      {"add", [] { add(nothing, x); }, undefined()},
      {"add", [] { add(x, nothing); }, undefined()},
      {"sub", [] { sub(nothing, x); }, undefined()},
      {"sub", [] { sub(x, nothing); }, undefined()},
      {"mul", [] { mul(nothing, x); }, undefined()},
      {"mul", [] { mul(x, nothing); }, undefined()},
      {"div", [] { div(nothing, x); }, undefined()},
      {"div", [] { div(x, nothing); }, undefined()},
      {"maximum", [] { maximum(nothing, x); }, undefined()},
      {"maximum", [] { maximum(x, nothing); }, undefined()},
      {"minimum", [] { minimum(nothing, x); }, undefined()},
      {"minimum", [] { minimum(x, nothing); }, undefined()},
      {"pow", [] { pow(nothing, x); }, undefined()},
      {"pow", [] { pow(x, nothing); }, undefined()},
      {"eq", [] { eq(nothing, x); }, undefined()},
      {"eq", [] { eq(x, nothing); }, undefined()},
      {"ne", [] { ne(nothing, x); }, undefined()},
      {"ne", [] { ne(x, nothing); }, undefined()},
      {"lt", [] { lt(nothing, x); }, undefined()},
      {"lt", [] { lt(x, nothing); }, undefined()},
      {"le", [] { le(nothing, x); }, undefined()},
      {"le", [] { le(x, nothing); }, undefined()},
      {"gt", [] { gt(nothing, x); }, undefined()},
      {"gt", [] { gt(x, nothing); }, undefined()},
      {"ge", [] { ge(nothing, x); }, undefined()},
      {"ge", [] { ge(x, nothing); }, undefined()},
      {"logical_or", [] { logical_or(nothing, x); }, undefined()},
      {"logical_or", [] { logical_or(x, nothing); },
       error<DTypeError>("logical_or: x must be bool, not float32"
                         "\n  got    x (2, 3) float32"
                         "\n  hint   x.to(boolean)")},
      {"logical_and", [] { logical_and(nothing, x); }, undefined()},
      {"logical_and", [] { logical_and(x, nothing); },
       error<DTypeError>("logical_and: x must be bool, not float32"
                         "\n  got    x (2, 3) float32"
                         "\n  hint   x.to(boolean)")},
      {"logical_xor", [] { logical_xor(nothing, x); }, undefined()},
      {"logical_xor", [] { logical_xor(x, nothing); },
       error<DTypeError>("logical_xor: x must be bool, not float32"
                         "\n  got    x (2, 3) float32"
                         "\n  hint   x.to(boolean)")},
      {"matmul", [] { matmul(nothing, x); }, undefined()},
      {"matmul", [] { matmul(x, nothing); }, undefined()},
      {"mse_loss", [] { mse_loss(nothing, x); }, undefined()},
      {"mse_loss", [] { mse_loss(x, nothing); }, undefined()},
      {"kl_div", [] { kl_div(nothing, x); }, undefined()},
      {"kl_div", [] { kl_div(x, nothing); }, undefined()},
      {"operator+", [] { nothing + x; }, undefined()},
      {"operator+", [] { x + nothing; }, undefined()},
      {"operator-", [] { nothing - x; }, undefined()},
      {"operator-", [] { x - nothing; }, undefined()},
      {"operator*", [] { nothing* x; }, undefined()},
      {"operator*", [] { x* nothing; }, undefined()},
      {"operator/", [] { nothing / x; }, undefined()},
      {"operator/", [] { x / nothing; }, undefined()},
      {"operator-", [] { -nothing; }, undefined()},
      {"operator+", [] { nothing + 1.0; }, undefined()},
      {"operator*", [] { 2.0 * nothing; }, undefined()},
      {"operator/", [] { 1.0 / nothing; }, undefined()},
      {"clamp", [] { clamp(nothing, 0.0); }, undefined()},
      {"allclose", [] { allclose(x, nothing); }, undefined()},
      {"masked_fill", [] { masked_fill(nothing, mask, 0.0); }, undefined()},
      {"masked_fill", [] { masked_fill(x, nothing, 0.0); }, undefined()},
      {"where", [] { where(nothing, x, x); }, undefined()},
      {"where", [] { where(mask, nothing, x); }, undefined()},
      {"where", [] { where(mask, x, nothing); }, undefined()},
      {"dropout", [] { dropout(nothing, 0.5); }, undefined()},
      {"dropout_with_key", [] { dropout_with_key(nothing, 0.5, 1); }, undefined()},
      {"logsumexp", [] { logsumexp(nothing, {0}); }, undefined()},
      {"cumsum", [] { cumsum(nothing, 0); }, undefined()},
      {"topk", [] { topk(nothing, 1); }, undefined()},
      {"softmax", [] { softmax(nothing, 0); }, undefined()},
      {"log_softmax", [] { log_softmax(nothing, 0); }, undefined()},
      {"softmax_backward", [] { softmax_backward(nothing, x, 0); }, undefined()},
      {"layer_norm", [] { layer_norm(nothing, {3}); }, undefined()},
      {"rms_norm", [] { rms_norm(nothing, {3}); }, undefined()},
      {"linear", [] { linear(nothing, x); }, undefined()},
      {"linear", [] { linear(x, nothing); }, undefined()},
      {"einsum", [] { einsum("ij->ji", {nothing}); }, undefined()},
      {"scaled_dot_product_attention", [] { scaled_dot_product_attention(nothing, heads, heads); },
       undefined()},
      {"rotary_embedding", [] { rotary_embedding(nothing); }, undefined()},
      {"embedding", [] { embedding(nothing, x); }, undefined()},
      {"embedding", [] { embedding(index, nothing); }, undefined()},
      {"gather", [] { gather(nothing, 0, index); }, undefined()},
      {"gather", [] { gather(x, 0, nothing); }, undefined()},
      {"scatter_add",
       [] {
         scatter_add(x, 0, zeros({2, 3}, int64), nothing);
       },
       undefined()},
      {"index_select", [] { index_select(nothing, 0, index); }, undefined()},
      {"one_hot", [] { one_hot(nothing); }, undefined()},
      {"nll_loss", [] { nll_loss(nothing, index); }, undefined()},
      {"nll_loss", [] { nll_loss(x, nothing); }, undefined()},
      {"cross_entropy", [] { cross_entropy(nothing, index); }, undefined()},
      {"cross_entropy", [] { cross_entropy(x, nothing); }, undefined()},
      {"binary_cross_entropy_with_logits", [] { binary_cross_entropy_with_logits(x, nothing); },
       undefined()},
      {"cat", [] { cat({nothing}); }, undefined()},
      {"cat",
       [] {
         cat({x, nothing});
       },
       undefined()},
      {"stack",
       [] {
         stack({x, nothing});
       },
       undefined()},
      {"split", [] { split(nothing, 1); }, undefined()},
      {"chunk", [] { chunk(nothing, 1); }, undefined()},
      {"repeat", [] { repeat(nothing, {2}); }, undefined()},
      {"movedim", [] { movedim(nothing, 0, 1); }, undefined()},
      {"tril", [] { tril(nothing); }, undefined()},
      {"triu", [] { triu(nothing); }, undefined()},
      {"sum_to", [] { sum_to(nothing, {}); }, undefined()},
      {"slice_backward", [] { slice_backward(nothing, {2}, 0, 0, 1); }, undefined()},
      {"broadcast", [] { broadcast("caller", nothing, x); }, undefined()},
      {"backward", [] { backward(nothing); }, undefined()},
      {"gradients", [] { gradients({nothing}, {x}); },
       error<AutogradError>("gradients: input 0 requires no gradient"
                            "\n  got    (2, 3) float32"
                            "\n  hint   requires_grad_() before it is used")},
      {"gradients", [] { gradients({wanted.sum()}, {nothing}); }, undefined()},
      {"Tensor::shape", [] { nothing.shape(); }, undefined()},
      {"Tensor::strides", [] { nothing.strides(); }, undefined()},
      {"Tensor::dtype", [] { nothing.dtype(); }, undefined()},
      {"Tensor::dim", [] { nothing.dim(); }, undefined()},
      {"Tensor::numel", [] { nothing.numel(); }, undefined()},
      {"Tensor::size", [] { nothing.size(0); }, undefined()},
      {"Tensor::is_contiguous", [] { nothing.is_contiguous(); }, undefined()},
      {"Tensor::data", [] { nothing.data<float>(); }, undefined()},
      {"Tensor::mutable_data", [] { Tensor().mutable_data<float>(); }, undefined()},
      {"Tensor::item", [] { nothing.item(); }, undefined()},
      {"Tensor::at", [] { nothing.at({0}); }, undefined()},
      {"Tensor::to_vector", [] { nothing.to_vector<double>(); }, undefined()},
      {"Tensor::requires_grad_", [] { Tensor().requires_grad_(); }, undefined()},
      {"Tensor::set_grad", [] { nothing.set_grad(x); }, undefined()},
      {"Tensor::zero_grad", [] { nothing.zero_grad(); }, undefined()},
      {"Tensor::retain_grad", [] { nothing.retain_grad(); }, undefined()},
      {"Tensor::register_hook", [] { nothing.register_hook([](const Tensor& g) { return g; }); },
       undefined()},
      {"Tensor::backward", [] { nothing.backward(); }, undefined()},
      {"Tensor::detach", [] { nothing.detach(); }, undefined()},
      {"Tensor::clone", [] { nothing.clone(); }, undefined()},
      {"Tensor::view", [] { nothing.view({1}); }, undefined()},
      {"Tensor::reshape", [] { nothing.reshape({1}); }, undefined()},
      {"Tensor::flatten", [] { nothing.flatten(); }, undefined()},
      {"Tensor::transpose", [] { nothing.transpose(0, 1); }, undefined()},
      {"Tensor::permute", [] { nothing.permute({0}); }, undefined()},
      {"Tensor::expand", [] { nothing.expand({1}); }, undefined()},
      {"Tensor::squeeze", [] { nothing.squeeze(); }, undefined()},
      {"Tensor::unsqueeze", [] { nothing.unsqueeze(0); }, undefined()},
      {"Tensor::slice", [] { nothing.slice(0, 0); }, undefined()},
      {"Tensor::select", [] { nothing.select(0, 0); }, undefined()},
      {"Tensor::as_strided", [] { nothing.as_strided({1}, {1}); }, undefined()},
      {"Tensor::contiguous", [] { nothing.contiguous(); }, undefined()},
      {"Tensor::to", [] { nothing.to(float64); }, undefined()},
      {"Tensor::sum", [] { nothing.sum(); }, undefined()},
      {"Tensor::mean", [] { nothing.mean(); }, undefined()},
      {"Tensor::max", [] { nothing.max(); }, undefined()},
      {"Tensor::exp", [] { nothing.exp(); }, undefined()},
      {"Tensor::log", [] { nothing.log(); }, undefined()},
      {"Tensor::sqrt", [] { nothing.sqrt(); }, undefined()},
      {"Tensor::tanh", [] { nothing.tanh(); }, undefined()},
      {"Tensor::sigmoid", [] { nothing.sigmoid(); }, undefined()},
      {"Tensor::relu", [] { nothing.relu(); }, undefined()},
      {"Tensor::softmax", [] { nothing.softmax(0); }, undefined()},
      {"Tensor::log_softmax", [] { nothing.log_softmax(0); }, undefined()},
      {"Tensor::matmul", [] { nothing.matmul(x); }, undefined()},
      {"Tensor::masked_fill", [] { nothing.masked_fill(mask, 0.0); }, undefined()},
      {"Tensor::copy_", [] { Tensor().copy_(x); }, undefined()},
      {"Tensor::fill_", [] { Tensor().fill_(0.0); }, undefined()},
      {"Tensor::zero_", [] { Tensor().zero_(); }, undefined()},
      {"Tensor::add_", [] { Tensor().add_(x); }, undefined()},
      {"Tensor::mul_", [] { Tensor().mul_(x); }, undefined()},
      {"Tensor::masked_fill_", [] { Tensor().masked_fill_(mask, 0.0); }, undefined()},
      {"Tensor::impl", [] { nothing.impl(); }, undefined()},
      {"Tensor::raw", [] { nothing.raw(); }, undefined()},
      {"Tensor::itemsize", [] { nothing.itemsize(); }, undefined()},
      {"Tensor::mark_changed", [] { nothing.mark_changed("x"); }, undefined()},
      {"Tensor::alias", [] { nothing.alias({}, {}, 0); }, undefined()},
      {"Tensor::rearranged", [] { nothing.rearranged({}, {}); }, undefined()},
      {"Tensor::operator[]", [] { nothing[0]; }, undefined()},
      {"AttentionMask::hide_where", [] { AttentionMask::hide_where(nothing); }, undefined()},
      {"AttentionMask::keep_where", [] { AttentionMask::keep_where(nothing); }, undefined()},
      {"AttentionMask::padding", [] { AttentionMask::padding(nothing); }, undefined()},
      {"AttentionMask::hidden_for", [] { AttentionMask::causal(2, 2).hidden_for(nothing); },
       undefined()},
  };
}

Rows shapes() {
  return {
      {"empty",
       [] {
         empty({2, -1});
       },
       error<ShapeError>("shape: negative size -1 in (2, -1)")},
      {"empty",
       [] {
         empty({kHuge, kHuge});
       },
       too_many()},
      {"zeros",
       [] {
         zeros({2, -1});
       },
       error<ShapeError>("shape: negative size -1 in (2, -1)")},
      {"zeros",
       [] {
         zeros({kHuge, kHuge});
       },
       too_many()},
      {"ones",
       [] {
         ones({2, -1});
       },
       error<ShapeError>("shape: negative size -1 in (2, -1)")},
      {"ones",
       [] {
         ones({kHuge, kHuge});
       },
       too_many()},
      {"rand",
       [] {
         rand({2, -1});
       },
       error<ShapeError>("shape: negative size -1 in (2, -1)")},
      {"rand",
       [] {
         rand({kHuge, kHuge});
       },
       too_many()},
      {"randn",
       [] {
         randn({2, -1});
       },
       error<ShapeError>("shape: negative size -1 in (2, -1)")},
      {"randn",
       [] {
         randn({kHuge, kHuge});
       },
       too_many()},
      {"full",
       [] {
         full({kHuge, kHuge}, 1.0);
       },
       too_many()},
      {"uniform", [] { uniform({-2}, 0, 1); },
       error<ShapeError>("shape: negative size -2 in (-2,)")},
      {"randint", [] { randint(0, 2, {-2}); },
       error<ShapeError>("shape: negative size -2 in (-2,)")},
      {"bernoulli",
       [] {
         bernoulli({kHuge, kHuge}, 0.5);
       },
       too_many()},
      {"randperm", [] { randperm(-1); }, error<ShapeError>("shape: negative size -1 in (-1,)")},
      {"randperm", [] { randperm(kLargest); },
       error<ShapeError>("shape: (9223372036854775807,) has too many elements")},
      {"eye", [] { eye(-1); }, error<ShapeError>("shape: negative size -1 in (-1, -1)")},
      {"eye", [] { eye(kHuge, kHuge); }, too_many()},
      {"Shape", [] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; },
       error<ShapeError>("shape: 9 axes are more than the 8 that a tensor can have")},
      {"Tensor::unsqueeze",
       [] {
         zeros({1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0);
       },
       error<ShapeError>("shape: one more axis than the 8 that a tensor can have")},
      {"element_count",
       [] {
         element_count({kHuge, 0, kHuge});
       },
       error<ShapeError>("shape: (4294967296, 0, 4294967296) has too many elements")},
      {"broadcast_shape",
       [] {
         broadcast_shape("caller", {2, 3}, {2});
       },
       no_broadcast("caller")},
      {"broadcast_batch",
       [] {
         broadcast_batch("caller", {2, 3, 4}, {5, 3, 4});
       },
       error<ShapeError>("caller: shapes do not broadcast (2 vs 5 on axis 0)"
                         "\n  got    x (2, 3, 4), other (5, 3, 4)"
                         "\n  need   equal sizes on every axis, counted from the last, or a 1")},
      {"unravel_index",
       [] {
         unravel_index(6, {2, 3});
       },
       error<ValueError>("unravel_index: position 6 is outside (2, 3), which has 6 elements")},
      {"checked_axis", [] { checked_axis("caller", 2, 2); }, no_axis_2("caller")},
      {"tensor",
       [] {
         tensor({{1, 2}, {3}});
       },
       error<ShapeError>("tensor: ragged braces ((2,) beside (1,))")},
      {"from_vector",
       [] {
         from_vector(std::vector<double>{1, 2}, {3});
       },
       error<ShapeError>("from_vector: 2 values for the 3 elements of (3,)")},
      {"add", [] { add(x, zeros({2})); }, no_broadcast("add")},
      {"sub", [] { sub(x, zeros({2})); }, no_broadcast("sub")},
      {"mul", [] { mul(x, zeros({2})); }, no_broadcast("mul")},
      {"div", [] { div(x, zeros({2})); }, no_broadcast("div")},
      {"maximum", [] { maximum(x, zeros({2})); }, no_broadcast("maximum")},
      {"minimum", [] { minimum(x, zeros({2})); }, no_broadcast("minimum")},
      {"pow", [] { pow(x, zeros({2})); }, no_broadcast("pow")},
      {"eq", [] { eq(x, zeros({2})); }, no_broadcast("eq")},
      {"ne", [] { ne(x, zeros({2})); }, no_broadcast("ne")},
      {"lt", [] { lt(x, zeros({2})); }, no_broadcast("lt")},
      {"le", [] { le(x, zeros({2})); }, no_broadcast("le")},
      {"gt", [] { gt(x, zeros({2})); }, no_broadcast("gt")},
      {"ge", [] { ge(x, zeros({2})); }, no_broadcast("ge")},
      {"operator+", [] { x + zeros({2}); }, no_broadcast("add")},
      {"operator-", [] { x - zeros({2}); }, no_broadcast("sub")},
      {"operator*", [] { x* zeros({2}); }, no_broadcast("mul")},
      {"operator/", [] { x / zeros({2}); }, no_broadcast("div")},
      {"logical_or", [] { logical_or(mask, zeros({2}, boolean)); }, no_broadcast("logical_or")},
      {"logical_and", [] { logical_and(mask, zeros({2}, boolean)); }, no_broadcast("logical_and")},
      {"logical_xor", [] { logical_xor(mask, zeros({2}, boolean)); }, no_broadcast("logical_xor")},
      {"mse_loss", [] { mse_loss(x, zeros({2})); }, no_broadcast("mse_loss")},
      {"kl_div", [] { kl_div(x, zeros({2})); }, no_broadcast("kl_div")},
      {"binary_cross_entropy_with_logits", [] { binary_cross_entropy_with_logits(x, zeros({3})); },
       error<ShapeError>("binary_cross_entropy_with_logits: the targets do not fit the input"
                         "\n  got    input (2, 3) float32, target (3,) float32")},
      {"binary_cross_entropy_with_logits",
       [] { binary_cross_entropy_with_logits(x, x, {.weight = zeros({2})}); },
       no_broadcast("binary_cross_entropy_with_logits")},
      {"masked_fill", [] { masked_fill(x, zeros({2}, boolean), 0.0); },
       no_broadcast("masked_fill")},
      {"where", [] { where(zeros({2}, boolean), x, x); }, no_broadcast("where")},
      {"broadcast", [] { broadcast("caller", x, zeros({2})); }, no_broadcast("caller")},
      {"matmul", [] { matmul(x, x); },
       error<ShapeError>("matmul: inner sizes differ (3 vs 2)"
                         "\n  got    x (2, 3) float32, other (2, 3) float32"
                         "\n  need   the last axis of x equal to the last but one of other")},
      {"matmul", [] { matmul(x, tensor(1)); },
       error<ShapeError>("matmul: a tensor without axes is no matrix"
                         "\n  got    x (2, 3) float32, other () float32"
                         "\n  hint   x * other")},
      {"matmul",
       [] {
         matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
       },
       error<ShapeError>("matmul: shapes do not broadcast (2 vs 3 on axis 0)"
                         "\n  got    x (2, 3, 4), other (3, 4, 5)"
                         "\n  need   equal sizes on every axis, counted from the last, or a 1")},
      {"linear",
       [] {
         linear(x, zeros({4, 2}));
       },
       error<ShapeError>("linear: x has 3 features, the weight takes 2"
                         "\n  got    x (2, 3) float32, weight (4, 2) float32"
                         "\n  need   x (..., 2)")},
      {"linear", [] { linear(x, zeros({3})); },
       error<ShapeError>("linear: weight must have two axes (out, in), not 1"
                         "\n  got    weight (3,) float32")},
      {"linear",
       [] {
         linear(x, zeros({4, 3}), zeros({3}));
       },
       error<ShapeError>("linear: the bias must have one number for each of the 4 outputs"
                         "\n  got    bias (3,) float32, weight (4, 3) float32")},
      {"einsum",
       [] {
         einsum("ij,jk->ik", {x, x});
       },
       error<ShapeError>("einsum: 'j' names axes of sizes 3 and 2")},
      {"einsum", [] { einsum("ii->i", {x}); },
       error<ShapeError>("einsum: 'i' names axes of sizes 2 and 3")},
      {"scaled_dot_product_attention", [] { scaled_dot_product_attention(x, x, x); },
       error<ShapeError>("scaled_dot_product_attention: needs four axes each"
                         "\n  got    query (2, 3), key (2, 3), value (2, 3)"
                         "\n  need   query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)")},
      {"scaled_dot_product_attention",
       [] {
         scaled_dot_product_attention(heads, zeros({1, 4, 3, 5}), zeros({1, 4, 3, 5}));
       },
       error<ShapeError>("scaled_dot_product_attention: query and key differ in features"
                         "\n  got    query (1, 4, 3, 4), key (1, 4, 3, 5), value (1, 4, 3, 5)"
                         "\n  need   query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)")},
      {"scaled_dot_product_attention",
       [] {
         scaled_dot_product_attention(heads, zeros({1, 2, 3, 4}), zeros({1, 2, 3, 4}));
       },
       error<ShapeError>(
           "scaled_dot_product_attention: query and key differ in heads (see enable_gqa)"
           "\n  got    query (1, 4, 3, 4), key (1, 2, 3, 4), value (1, 2, 3, 4)"
           "\n  need   query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)")},
      {"scaled_dot_product_attention",
       [] {
         scaled_dot_product_attention(heads, heads, heads, {.mask = AttentionMask::causal(2, 2)});
       },
       mask_does_not_fit("(1, 4, 3, 3)")},
      {"scaled_dot_product_attention",
       [] {
         scaled_dot_product_attention(heads, zeros({1, 3, 3, 4}), zeros({1, 3, 3, 4}),
                                      {.enable_gqa = true});
       },
       error<ShapeError>(
           "scaled_dot_product_attention: 4 query heads cannot share 3 key heads evenly"
           "\n  got    query (1, 4, 3, 4), key (1, 3, 3, 4), value (1, 3, 3, 4)"
           "\n  need   query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)")},
      {"AttentionMask::hide_where", [] { AttentionMask::hide_where(zeros({2})); },
       error<ShapeError>("attention mask: 1 axes are not understood"
                         "\n  got    mask (2,) float32"
                         "\n  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)")},
      {"AttentionMask::keep_where",
       [] {
         AttentionMask::keep_where(zeros({1, 1, 1, 1, 1}));
       },
       error<ShapeError>("attention mask: 5 axes are not understood"
                         "\n  got    mask (1, 1, 1, 1, 1) float32"
                         "\n  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)")},
      {"AttentionMask::padding", [] { AttentionMask::padding(zeros({2})); },
       error<ShapeError>("attention mask: padding needs (batch, key)"
                         "\n  got    hidden (2,) float32")},
      {"AttentionMask::hidden_for", [] { AttentionMask::causal(2, 2).hidden_for(heads); },
       mask_does_not_fit("(1, 4, 3, 4)")},
      {"AttentionMask::causal_offset_for",
       [] { AttentionMask::causal(2, 2).causal_offset_for(heads.shape()); },
       mask_does_not_fit("(1, 4, 3, 4)")},
      {"operator|", [] { AttentionMask::causal(2, 2) | AttentionMask::causal(3, 3); },
       error<ShapeError>("attention mask: shapes do not broadcast (2 vs 3 on axis 2)"
                         "\n  got    x (1, 1, 2, 2), other (1, 1, 3, 3)"
                         "\n  need   equal sizes on every axis, counted from the last, or a 1")},
      {"masked_fill", [] { masked_fill(heads, AttentionMask::causal(2, 2)); },
       mask_does_not_fit("(1, 4, 3, 4)")},
      {"layer_norm", [] { layer_norm(x, {2}); },
       error<ShapeError>("layer_norm: the last axes of x are not (2,)"
                         "\n  got    x (2, 3) float32")},
      {"layer_norm", [] { layer_norm(x, {3}, zeros({2})); },
       error<ShapeError>("layer_norm: weight does not fit normalized_shape"
                         "\n  got    weight (2,), normalized_shape (3,)")},
      {"layer_norm", [] { layer_norm(x, {3}, {}, zeros({2})); },
       error<ShapeError>("layer_norm: bias does not fit normalized_shape"
                         "\n  got    bias (2,), normalized_shape (3,)")},
      {"rms_norm", [] { rms_norm(x, {2}); },
       error<ShapeError>("rms_norm: the last axes of x are not (2,)"
                         "\n  got    x (2, 3) float32")},
      {"rms_norm", [] { rms_norm(x, {3}, zeros({2})); },
       error<ShapeError>("rms_norm: weight does not fit normalized_shape"
                         "\n  got    weight (2,), normalized_shape (3,)")},
      {"rotary_embedding", [] { rotary_embedding(x); },
       error<ShapeError>("rotary_embedding: needs (..., length, d) with an even d"
                         "\n  got    x (2, 3) float32")},
      {"rotary_embedding",
       [] {
         rotary_embedding(zeros({2, 4}), zeros({3, 2}), zeros({3, 2}));
       },
       error<ShapeError>("rotary_embedding: shapes do not broadcast (2 vs 3 on axis 0)"
                         "\n  got    x (2, 2), other (3, 2)"
                         "\n  need   equal sizes on every axis, counted from the last, or a 1")},
      {"embedding", [] { embedding(index, zeros({3})); },
       error<ShapeError>("embedding: weight must have two axes (rows, width), not 1"
                         "\n  got    weight (3,) float32")},
      {"gather", [] { gather(x, 0, index); },
       error<ShapeError>("gather: the index does not fit x along axis 0"
                         "\n  got    x (2, 3) float32, index (2,) int64"
                         "\n  need   the rank of x, and no larger sizes on the other axes")},
      {"scatter_add",
       [] {
         scatter_add(x, 0, zeros({3, 3}, int64), x);
       },
       error<ShapeError>("scatter_add: index and source differ in shape"
                         "\n  got    index (3, 3), source (2, 3)")},
      {"index_select",
       [] {
         index_select(x, 0, zeros({1, 1}, int64));
       },
       error<ShapeError>("index_select: needs a list of indices, and an axis to select from"
                         "\n  got    x (2, 3) float32, index (1, 1) int64")},
      {"nll_loss", [] { nll_loss(x, zeros({3}, int64)); },
       error<ShapeError>(
           "nll_loss: the targets do not fit the input"
           "\n  got    input (2, 3) float32, target (3,) int64"
           "\n  need   input (N, C), (C) or (N, C, d...), target without the axis C")},
      {"nll_loss", [] { nll_loss(x, index, {.weight = zeros({2})}); },
       error<ShapeError>("nll_loss: needs one weight for each of the 3 classes"
                         "\n  got    weight (2,) float32, input (2, 3) float32")},
      {"cross_entropy", [] { cross_entropy(x, zeros({3}, int64)); },
       error<ShapeError>(
           "cross_entropy: the targets do not fit the input"
           "\n  got    input (2, 3) float32, target (3,) int64"
           "\n  need   input (N, C), (C) or (N, C, d...), target without the axis C")},
      {"cross_entropy", [] { cross_entropy(tensor(1), index); },
       error<ShapeError>("cross_entropy: the input has no axis of classes"
                         "\n  need   input (N, C), (C) or (N, C, d...)")},
      {"softmax_backward",
       [] {
         softmax_backward(x, zeros({3, 2}), 0);
       },
       error<ShapeError>("softmax_backward: the gradient does not fit the output"
                         "\n  got    gradient (2, 3), output (3, 2)")},
      {"sum_to", [] { sum_to(x, {2}); },
       error<ShapeError>("sum_to: (2,) does not expand to (2, 3)"
                         "\n  need   equal sizes, or a 1, counted from the last axis")},
      {"slice_backward",
       [] {
         slice_backward(x, {3, 2}, 0, 0, 1);
       },
       error<ShapeError>("slice_backward: x is no slice along axis 0"
                         "\n  got    x (2, 3), shape (3, 2)")},
      {"cat",
       [] {
         cat({x, zeros({3, 2})});
       },
       error<ShapeError>("cat: sizes differ on another axis than 0"
                         "\n  got    first (2, 3), another (3, 2)")},
      {"cat", [] { cat({tensor(1)}); },
       error<ShapeError>("cat: tensors without axes cannot be joined")},
      {"stack",
       [] {
         stack({x, zeros({3, 2})});
       },
       error<ShapeError>("stack: the shapes differ"
                         "\n  got    first (2, 3), another (3, 2)"
                         "\n  hint   cat() joins along an axis that is there")},
      {"repeat", [] { repeat(x, {2}); }, error<ShapeError>("repeat: 1 repeats for 2 axes")},
      {"repeat",
       [] {
         repeat(x, {2, -1});
       },
       error<ShapeError>("repeat: negative count in (2, -1)")},
      {"repeat",
       [] {
         repeat(x, {kHuge, kHuge});
       },
       error<ShapeError>("shape: (8589934592, 12884901888) has too many elements")},
      {"tril", [] { tril(zeros({2})); },
       error<ShapeError>("tril: needs at least two axes, x has 1")},
      {"triu", [] { triu(zeros({2})); },
       error<ShapeError>("triu: needs at least two axes, x has 1")},
      {"split", [] { split(tensor(1), 1); },
       error<ShapeError>("split: a tensor without axes cannot be split")},
      {"chunk", [] { chunk(tensor(1), 1); },
       error<ShapeError>("chunk: a tensor without axes cannot be split")},
      {"Tensor::view", [] { x.view({4}); },
       error<ShapeError>("view: 6 elements do not fill (4,)"
                         "\n  got    x (2, 3), shape (4,)")},
      {"Tensor::view",
       [] {
         x.view({-1, -1});
       },
       error<ShapeError>("view: only one size may be -1"
                         "\n  got    x (2, 3), shape (-1, -1)")},
      {"Tensor::view",
       [] {
         x.view({-2, 3});
       },
       error<ShapeError>("view: negative size -2"
                         "\n  got    x (2, 3), shape (-2, 3)")},
      {"Tensor::view", [] { x.transpose(0, 1).view({6}); },
       error<ShapeError>("view: the strides do not allow (6,) without a copy"
                         "\n  got    x (3, 2) with strides (1, 3)"
                         "\n  hint   reshape() copies where it must; or contiguous().view(...)")},
      {"Tensor::view",
       [] {
         zeros({0, 2}).view({0, -1});
       },
       error<ShapeError>("view: -1 could be any size beside a 0"
                         "\n  got    x (0, 2), shape (0, -1)")},
      {"Tensor::reshape",
       [] {
         x.reshape({4, -1});
       },
       error<ShapeError>("reshape: 6 elements do not fill (4, -1)"
                         "\n  got    x (2, 3), shape (4, -1)")},
      {"Tensor::reshape",
       [] {
         x.reshape({kHuge, kHuge});
       },
       too_many()},
      {"Tensor::expand",
       [] {
         x.expand({3, 3});
       },
       error<ShapeError>(
           "expand: (2, 3) cannot become (3, 3)"
           "\n  need   equal sizes, or a 1 to be repeated, counted from the last axis")},
      {"Tensor::expand", [] { x.expand({3}); },
       error<ShapeError>(
           "expand: (2, 3) cannot become (3,)"
           "\n  need   equal sizes, or a 1 to be repeated, counted from the last axis")},
      {"Tensor::permute", [] { x.permute({0}); },
       error<ShapeError>("permute: 1 axes given for 2"
                         "\n  got    axes (0,), x (2, 3)")},
      {"Tensor::item", [] { x.item(); },
       error<ShapeError>("item: needs a single number, this tensor has 6"
                         "\n  got    (2, 3) float32")},
      {"Tensor::at", [] { x.at({0}); },
       error<ShapeError>("at: 1 indices for 2 axes"
                         "\n  got    index (0,), tensor (2, 3)")},
      {"Tensor::size", [] { tensor(1).size(0); },
       error<ShapeError>("size: a tensor without axes has no sizes")},
      {"Tensor::slice", [] { tensor(1).slice(0, 0); },
       error<ShapeError>("slice: a tensor without axes cannot be sliced")},
      {"Tensor::select", [] { tensor(1).select(0, 0); },
       error<ShapeError>("select: a tensor without axes has nothing to select")},
      {"Tensor::as_strided",
       [] {
         x.as_strided({2, 3}, {1});
       },
       error<ShapeError>("as_strided: needs one stride for each axis"
                         "\n  got    shape (2, 3), strides (1,), offset 0, memory of 6 elements")},
      {"Tensor::as_strided", [] { x.as_strided({-1}, {1}); },
       error<ShapeError>("shape: negative size -1 in (-1,)")},
      {"Tensor::copy_", [] { Tensor(x).copy_(zeros({2})); }, no_broadcast("copy_")},
      {"Tensor::copy_", [] { zeros({3}).copy_(x); },
       error<ShapeError>("copy_: the other operand is larger than x"
                         "\n  got    x (3,), other (2, 3)")},
      {"Tensor::add_", [] { zeros({3}).add_(x); },
       error<ShapeError>("add_: the other operand is larger than x"
                         "\n  got    x (3,), other (2, 3)")},
      {"Tensor::mul_", [] { zeros({3}).mul_(x); },
       error<ShapeError>("mul_: the other operand is larger than x"
                         "\n  got    x (3,), other (2, 3)")},
      {"Tensor::masked_fill_", [] { zeros({3}).masked_fill_(mask, 0.0); },
       error<ShapeError>("masked_fill_: the other operand is larger than x"
                         "\n  got    x (3,), other (2, 3)")},
      {"Tensor::set_grad", [] { wanted.set_grad(zeros({2}, float64)); },
       error<ShapeError>("set_grad: the gradient does not fit the tensor"
                         "\n  got    gradient (2,), tensor (3,)")},
      {"backward", [] { backward(wanted.sum(), {.gradient = x.to(float64)}); },
       error<ShapeError>("backward: the gradient does not fit the tensor"
                         "\n  got    gradient (2, 3), tensor ()")},
      {"gradients", [] { gradients({wanted.sum()}, {wanted}, {.grad_outputs = {wanted}}); },
       error<ShapeError>("gradients: the gradient does not fit the tensor"
                         "\n  got    gradient (3,), tensor ()")},
      {"random::Numpy::rand", [] { random::Numpy(1).rand({-1}); },
       error<ShapeError>("shape: negative size -1 in (-1,)")},
      {"random::Numpy::randn", [] { random::Numpy(1).randn({-1}); },
       error<ShapeError>("shape: negative size -1 in (-1,)")},
  };
}

Rows axes() {
  return {
      {"sum", [] { sum(x, {2}); }, no_axis_2("sum")},
      {"mean", [] { mean(x, {-3}); }, error<ShapeError>("mean: axis -3 is outside -2..1 (rank 2)")},
      {"var",
       [] {
         var(x, {0, 0});
       },
       error<ShapeError>("var: axis 0 is named twice"
                         "\n  got    axes (0, 0), rank 2")},
      {"std", [] { gradus::std(x, {2}); }, no_axis_2("std")},
      {"norm", [] { norm(x, 2, {2}); }, no_axis_2("norm")},
      {"logsumexp", [] { logsumexp(x, {2}); }, no_axis_2("logsumexp")},
      {"amax", [] { amax(x, {2}); }, no_axis_2("amax")},
      {"amin",
       [] {
         amin(x, {1, -1});
       },
       error<ShapeError>("amin: axis 1 is named twice"
                         "\n  got    axes (1, -1), rank 2")},
      {"prod", [] { prod(x, 2); }, no_axis_2("prod")},
      {"cumsum", [] { cumsum(x, 2); }, no_axis_2("cumsum")},
      {"max", [] { max(x, 2); }, no_axis_2("max")},
      {"min", [] { min(x, 2); }, no_axis_2("min")},
      {"argmax", [] { argmax(x, 2); }, no_axis_2("argmax")},
      {"argmin", [] { argmin(x, 2); }, no_axis_2("argmin")},
      {"softmax", [] { softmax(x, 2); }, no_axis_2("softmax")},
      {"log_softmax", [] { log_softmax(x, 2); }, no_axis_2("log_softmax")},
      {"topk", [] { topk(x, 1, 2); }, no_axis_2("topk")},
      {"softmax_backward", [] { softmax_backward(x, x, 2); }, no_axis_2("softmax_backward")},
      {"gather", [] { gather(x, 2, index); }, no_axis_2("gather")},
      {"scatter_add", [] { scatter_add(x, 2, index, x); }, no_axis_2("scatter_add")},
      {"index_select", [] { index_select(x, 2, index); }, no_axis_2("index_select")},
      {"cat", [] { cat({x}, 2); }, no_axis_2("cat")},
      {"stack", [] { stack({x}, 3); },
       error<ShapeError>("stack: axis 3 is outside -3..2 (rank 3)")},
      {"split", [] { split(x, 1, 2); }, no_axis_2("split")},
      {"chunk", [] { chunk(x, 1, 2); }, no_axis_2("chunk")},
      {"movedim", [] { movedim(x, 2, 0); }, no_axis_2("movedim")},
      {"flip", [] { flip(x, {2}); }, no_axis_2("flip")},
      {"slice_backward",
       [] {
         slice_backward(x, {2, 3}, 2, 0, 1);
       },
       no_axis_2("slice_backward")},
      {"Tensor::flatten", [] { x.flatten(1, 0); },
       error<ShapeError>("flatten: axis 1 comes after axis 0")},
      {"Tensor::transpose", [] { x.transpose(0, 2); }, no_axis_2("transpose")},
      {"Tensor::permute",
       [] {
         x.permute({0, 0});
       },
       error<ShapeError>("permute: axis 0 is named twice"
                         "\n  got    axes (0, 0), rank 2")},
      {"Tensor::squeeze", [] { x.squeeze(2); }, no_axis_2("squeeze")},
      {"Tensor::unsqueeze", [] { x.unsqueeze(4); },
       error<ShapeError>("unsqueeze: axis 4 is outside -3..2 (rank 3)")},
      {"Tensor::slice", [] { x.slice(2, 0); }, no_axis_2("slice")},
      {"Tensor::select", [] { x.select(2, 0); }, no_axis_2("select")},
      {"Tensor::size", [] { x.size(kLargest); },
       error<ShapeError>("size: axis 9223372036854775807 is outside -2..1 (rank 2)")},
  };
}

Rows no_elements() {
  return {
      {"amax", [] { amax(zeros({0})); },
       error<ShapeError>("amax: axis 0 has no elements to choose from"
                         "\n  got    x (0,) float32")},
      {"amin",
       [] {
         amin(zeros({2, 0}), {1});
       },
       error<ShapeError>("amin: axis 1 has no elements to choose from"
                         "\n  got    x (2, 0) float32")},
      {"max", [] { max(zeros({0})); },
       error<ShapeError>("max: axis 0 has no elements to choose from"
                         "\n  got    x (0,) float32")},
      {"min",
       [] {
         min(zeros({0, 2}), 0);
       },
       error<ShapeError>("min: axis 0 has no elements to choose from"
                         "\n  got    x (0, 2) float32")},
      {"argmax", [] { argmax(zeros({0})); },
       error<ShapeError>("argmax: axis 0 has no elements to choose from"
                         "\n  got    x (0,) float32")},
      {"argmin",
       [] {
         argmin(zeros({2, 0}), 1);
       },
       error<ShapeError>("argmin: axis 1 has no elements to choose from"
                         "\n  got    x (2, 0) float32")},
      {"topk", [] { topk(zeros({0}), 1); },
       error<ValueError>("topk: k 1 is outside 0..0"
                         "\n  got    x (0,) float32, axis 0")},
      {"cat", [] { cat({}); }, error<ValueError>("cat: needs at least one tensor")},
      {"stack", [] { stack({}); }, error<ValueError>("stack: needs at least one tensor")},
      {"one_hot", [] { one_hot(zeros({0}, int64)); },
       error<ValueError>("one_hot: no index to count the classes by"
                         "\n  hint   give num_classes")},
      {"einsum", [] { einsum("", {}); },
       error<ValueError>(
           "einsum: 1 terms for 0 operands"
           "\n  got    equation ''"
           "\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands")},
  };
}

Rows dtypes() {
  return {
      {"exp", [] { exp(index); }, not_floating("exp", "(2,) int64")},
      {"log", [] { log(index); }, not_floating("log", "(2,) int64")},
      {"sqrt", [] { sqrt(index); }, not_floating("sqrt", "(2,) int64")},
      {"rsqrt", [] { rsqrt(index); }, not_floating("rsqrt", "(2,) int64")},
      {"reciprocal", [] { reciprocal(index); }, not_floating("reciprocal", "(2,) int64")},
      {"sin", [] { sin(index); }, not_floating("sin", "(2,) int64")},
      {"cos", [] { cos(index); }, not_floating("cos", "(2,) int64")},
      {"sign", [] { sign(index); }, not_floating("sign", "(2,) int64")},
      {"floor", [] { floor(index); }, not_floating("floor", "(2,) int64")},
      {"ceil", [] { ceil(index); }, not_floating("ceil", "(2,) int64")},
      {"erf", [] { erf(index); }, not_floating("erf", "(2,) int64")},
      {"tanh", [] { tanh(index); }, not_floating("tanh", "(2,) int64")},
      {"sigmoid", [] { sigmoid(index); }, not_floating("sigmoid", "(2,) int64")},
      {"relu", [] { relu(index); }, not_floating("relu", "(2,) int64")},
      {"leaky_relu", [] { leaky_relu(index); }, not_floating("leaky_relu", "(2,) int64")},
      {"silu", [] { silu(index); }, not_floating("silu", "(2,) int64")},
      {"softplus", [] { softplus(index); }, not_floating("softplus", "(2,) int64")},
      {"gelu", [] { gelu(index); }, not_floating("gelu", "(2,) int64")},
      {"mean", [] { mean(index); }, not_floating("mean", "(2,) int64")},
      {"var", [] { var(index); }, not_floating("var", "(2,) int64")},
      {"std", [] { gradus::std(index); }, not_floating("std", "(2,) int64")},
      {"norm", [] { norm(index); }, not_floating("norm", "(2,) int64")},
      {"abs", [] { gradus::abs(mask); }, not_floating("abs", "(2, 3) bool")},
      {"square", [] { square(mask); },
       error<DTypeError>("mul: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool, other (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"neg", [] { neg(mask); },
       error<DTypeError>("neg: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"clamp", [] { clamp(mask, 0.0); }, not_floating("clamp", "(2, 3) bool")},
      {"clamp", [] { clamp(index, 0.5); },
       error<DTypeError>("clamp: 0.5 does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"logsumexp", [] { logsumexp(index, {0}); }, not_floating("logsumexp", "(2,) int64")},
      {"add", [] { add(x, x.to(float64)); }, mixed("add")},
      {"sub", [] { sub(x, x.to(float64)); }, mixed("sub")},
      {"mul", [] { mul(x, x.to(float64)); }, mixed("mul")},
      {"div", [] { div(x, x.to(float64)); }, mixed("div")},
      {"maximum", [] { maximum(x, x.to(float64)); }, mixed("maximum")},
      {"minimum", [] { minimum(x, x.to(float64)); }, mixed("minimum")},
      {"pow", [] { pow(x, x.to(float64)); }, mixed("pow")},
      {"eq", [] { eq(x, x.to(float64)); }, mixed("eq")},
      {"ne", [] { ne(x, x.to(float64)); }, mixed("ne")},
      {"lt", [] { lt(x, x.to(float64)); }, mixed("lt")},
      {"le", [] { le(x, x.to(float64)); }, mixed("le")},
      {"gt", [] { gt(x, x.to(float64)); }, mixed("gt")},
      {"ge", [] { ge(x, x.to(float64)); }, mixed("ge")},
      {"matmul", [] { matmul(x, x.to(float64)); }, mixed("matmul")},
      {"mse_loss", [] { mse_loss(x, x.to(float64)); }, mixed("mse_loss")},
      {"kl_div", [] { kl_div(x, x.to(float64)); }, mixed("kl_div")},
      {"binary_cross_entropy_with_logits",
       [] { binary_cross_entropy_with_logits(x, x.to(float64)); },
       mixed("binary_cross_entropy_with_logits")},
      {"add", [] { add(mask, mask); },
       error<DTypeError>("add: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool, other (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"sub", [] { sub(mask, mask); },
       error<DTypeError>("sub: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool, other (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"mul", [] { mul(mask, mask); },
       error<DTypeError>("mul: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool, other (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"maximum", [] { maximum(mask, mask); },
       error<DTypeError>("maximum: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool, other (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"minimum", [] { minimum(mask, mask); },
       error<DTypeError>("minimum: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool, other (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"operator+", [] { x + x.to(float64); }, mixed("add")},
      {"operator-", [] { x - x.to(float64); }, mixed("sub")},
      {"operator*", [] { x* x.to(float64); }, mixed("mul")},
      {"operator/", [] { x / x.to(float64); }, mixed("div")},
      {"operator/", [] { index / 2.0; }, not_floating("div", "(2,) int64")},
      {"operator+", [] { index + 0.5; },
       error<DTypeError>("add: 0.5 does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"operator-", [] { mask - 1.0; },
       error<DTypeError>("sub: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"operator-", [] { -mask; },
       error<DTypeError>("neg: bool tensors have no arithmetic"
                         "\n  got    x (2, 3) bool"
                         "\n  hint   x.to(int64)")},
      {"operator*", [] { index* std::nan(""); },
       error<DTypeError>("mul: nan does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"logical_or", [] { logical_or(x, mask); },
       error<DTypeError>("logical_or: x must be bool, not float32"
                         "\n  got    x (2, 3) float32"
                         "\n  hint   x.to(boolean)")},
      {"logical_and", [] { logical_and(mask, x); },
       error<DTypeError>("logical_and: other must be bool, not float32"
                         "\n  got    other (2, 3) float32"
                         "\n  hint   other.to(boolean)")},
      {"logical_xor", [] { logical_xor(x, x); },
       error<DTypeError>("logical_xor: x must be bool, not float32"
                         "\n  got    x (2, 3) float32"
                         "\n  hint   x.to(boolean)")},
      {"logical_not", [] { logical_not(x); },
       error<DTypeError>("logical_not: x must be bool, not float32"
                         "\n  got    x (2, 3) float32"
                         "\n  hint   x.to(boolean)")},
      {"softmax", [] { softmax(index, 0); }, not_floating("softmax", "(2,) int64")},
      {"log_softmax", [] { log_softmax(index, 0); }, not_floating("log_softmax", "(2,) int64")},
      {"softmax_backward", [] { softmax_backward(x, x.to(float64), 0); },
       error<DTypeError>("softmax_backward: float64 and float32 are not mixed silently"
                         "\n  got    x (2, 3) float64, other (2, 3) float32"
                         "\n  hint   other.to(float64), or model.to(float64) for gradient checks")},
      {"dropout", [] { dropout(index, 0.5); }, not_floating("dropout", "(2,) int64")},
      {"dropout_with_key", [] { dropout_with_key(index, 0.5, 1); },
       not_floating("dropout", "(2,) int64")},
      {"layer_norm", [] { layer_norm(index, {2}); }, not_floating("layer_norm", "(2,) int64")},
      {"rms_norm", [] { rms_norm(index, {2}); }, not_floating("rms_norm", "(2,) int64")},
      {"rms_norm", [] { rms_norm(x, {3}, zeros({3}, float64)); },
       error<DTypeError>("rms_norm: float32 and float64 are not mixed silently"
                         "\n  got    x (2, 3) float32, other (3,) float64"
                         "\n  hint   other.to(float32), or model.to(float64) for gradient checks")},
      {"rotary_embedding",
       [] {
         rotary_embedding(zeros({2, 2}, int64));
       },
       not_floating("rotary_embedding", "(2, 2) int64")},
      {"linear",
       [] {
         linear(x, zeros({4, 3}, float64));
       },
       error<DTypeError>("linear: float32 and float64 are not mixed silently"
                         "\n  got    x (2, 3) float32, other (4, 3) float64"
                         "\n  hint   other.to(float32), or model.to(float64) for gradient checks")},
      {"einsum",
       [] {
         einsum("i,i->", {index, index});
       },
       not_floating("einsum", "(2,) int64")},
      {"scaled_dot_product_attention",
       [] { scaled_dot_product_attention(heads, heads, heads.to(float64)); },
       error<DTypeError>("scaled_dot_product_attention: float32 and float64 are not mixed silently"
                         "\n  got    x (1, 4, 3, 4) float32, other (1, 4, 3, 4) float64"
                         "\n  hint   other.to(float32), or model.to(float64) for gradient checks")},
      {"masked_fill", [] { masked_fill(x, x, 0.0); },
       error<DTypeError>("masked_fill: mask must be bool, not float32"
                         "\n  got    mask (2, 3) float32"
                         "\n  hint   mask.to(boolean)")},
      {"masked_fill", [] { masked_fill(index, zeros({2}, boolean), 0.5); },
       error<DTypeError>("masked_fill: 0.5 does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"where", [] { where(x, x, x); },
       error<DTypeError>("where: condition must be bool, not float32"
                         "\n  got    condition (2, 3) float32"
                         "\n  hint   condition.to(boolean)")},
      {"where", [] { where(mask, x, x.to(float64)); }, mixed("where")},
      {"embedding", [] { embedding(x, x); },
       error<DTypeError>("embedding: indices must be int64, not float32"
                         "\n  got    indices (2, 3) float32"
                         "\n  hint   indices.to(int64)")},
      {"embedding",
       [] {
         embedding(index, zeros({2, 2}, int64));
       },
       not_floating("embedding", "(2, 2) int64")},
      {"gather", [] { gather(x, 0, x); },
       error<DTypeError>("gather: index must be int64, not float32"
                         "\n  got    index (2, 3) float32"
                         "\n  hint   index.to(int64)")},
      {"scatter_add",
       [] {
         scatter_add(x, 0, zeros({2, 3}, int64), x.to(float64));
       },
       mixed("scatter_add")},
      {"index_select", [] { index_select(x, 0, x); },
       error<DTypeError>("index_select: index must be int64, not float32"
                         "\n  got    index (2, 3) float32"
                         "\n  hint   index.to(int64)")},
      {"one_hot", [] { one_hot(x); },
       error<DTypeError>("one_hot: index must be int64, not float32"
                         "\n  got    index (2, 3) float32"
                         "\n  hint   index.to(int64)")},
      {"nll_loss", [] { nll_loss(x, x); },
       error<DTypeError>("nll_loss: target must be int64, not float32"
                         "\n  got    target (2, 3) float32"
                         "\n  hint   target.to(int64)")},
      {"nll_loss", [] { nll_loss(index, index); }, not_floating("nll_loss", "(2,) int64")},
      {"cross_entropy", [] { cross_entropy(x, index, {.weight = zeros({3}, float64)}); },
       error<DTypeError>("cross_entropy: float32 and float64 are not mixed silently"
                         "\n  got    x (2, 3) float32, other (3,) float64"
                         "\n  hint   other.to(float32), or model.to(float64) for gradient checks")},
      {"cross_entropy", [] { cross_entropy(x, x.to(float64)); }, mixed("cross_entropy")},
      {"cat",
       [] {
         cat({x, x.to(float64)});
       },
       mixed("cat")},
      {"stack",
       [] {
         stack({x, x.to(float64)});
       },
       mixed("stack")},
      {"full", [] { full({2}, 0.5, int64); },
       error<DTypeError>("full: 0.5 does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"rand", [] { rand({2}, int64); },
       error<DTypeError>("rand: draws fractions, which int64 cannot hold"
                         "\n  need   float32 or float64"
                         "\n  hint   randint(low, high, shape) draws whole numbers")},
      {"randn", [] { randn({2}, boolean); },
       error<DTypeError>("randn: draws fractions, which bool cannot hold"
                         "\n  need   float32 or float64"
                         "\n  hint   randint(low, high, shape) draws whole numbers")},
      {"uniform", [] { uniform({2}, 0, 1, int64); },
       error<DTypeError>("uniform: draws fractions, which int64 cannot hold"
                         "\n  need   float32 or float64"
                         "\n  hint   randint(low, high, shape) draws whole numbers")},
      {"Tensor::data", [] { x.data<double>(); },
       error<DTypeError>("data: this tensor holds float32, not float64")},
      {"Tensor::mutable_data", [] { Tensor(x).mutable_data<Index>(); },
       error<DTypeError>("data: this tensor holds float32, not int64")},
      {"Tensor::requires_grad_", [] { zeros({2}, int64).requires_grad_(); },
       error<DTypeError>("requires_grad_: int64 has no gradient"
                         "\n  need   float32 or float64")},
      {"Tensor::set_grad", [] { wanted.set_grad(x); },
       error<ShapeError>("set_grad: the gradient does not fit the tensor"
                         "\n  got    gradient (2, 3), tensor (3,)")},
      {"Tensor::fill_", [] { zeros({2}, boolean).fill_(2); },
       error<DTypeError>("fill_: 2 does not fit a bool tensor"
                         "\n  got    x (2,) bool"
                         "\n  hint   x.to(float32)")},
      {"Tensor::add_", [] { zeros({2}, int64).add_(index, 0.5); },
       error<DTypeError>("add_: 0.5 does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"Tensor::add_", [] { zeros({2}).add_(index); },
       error<DTypeError>("add_: float32 and int64 are not mixed silently"
                         "\n  got    x (2,) float32, other (2,) int64"
                         "\n  hint   other.to(float32)")},
      {"Tensor::mul_", [] { zeros({2}, boolean).mul_(zeros({2}, boolean)); },
       error<DTypeError>("mul_: bool tensors have no arithmetic"
                         "\n  got    x (2,) bool"
                         "\n  hint   x.to(int64)")},
      {"Tensor::mul_", [] { zeros({2}, int64).mul_(0.5); },
       error<DTypeError>("mul_: 0.5 does not fit a int64 tensor"
                         "\n  got    x (2,) int64"
                         "\n  hint   x.to(float32)")},
      {"Tensor::masked_fill_", [] { Tensor(x).masked_fill_(x, 0.0); },
       error<DTypeError>("masked_fill_: mask must be bool, not float32"
                         "\n  got    mask (2, 3) float32"
                         "\n  hint   mask.to(boolean)")},
      {"backward", [] { backward(wanted.sum(), {.gradient = tensor(1)}); },
       error<DTypeError>("backward: a float32 gradient for a float64 tensor")},
  };
}

Rows numbers() {
  return {
      {"embedding",
       [] {
         embedding(tensor({0, 5}, int64), x);
       },
       error<ValueError>("embedding: index 5 is outside 0..1"
                         "\n  got    indices (2,), first at (1,), 1 of 2 outside; weight (2, 3)")},
      {"gather",
       [] {
         gather(x, 1, tensor({{0}, {-1}}, int64));
       },
       error<ValueError>(
           "gather: index -1 is outside 0..2"
           "\n  got    indices (2, 1), first at (1, 0), 1 of 2 outside; x (2, 3), axis 1")},
      {"scatter_add",
       [] {
         scatter_add(x, 1, tensor({{3}}, int64), zeros({1, 1}));
       },
       error<ValueError>(
           "scatter_add: index 3 is outside 0..2"
           "\n  got    indices (1, 1), first at (0, 0), 1 of 1 outside; x (2, 3), axis 1")},
      {"index_select", [] { index_select(x, 0, tensor({2}, int64)); },
       error<ValueError>(
           "index_select: index 2 is outside 0..1"
           "\n  got    indices (1,), first at (0,), 1 of 1 outside; x (2, 3), axis 0")},
      {"one_hot", [] { one_hot(tensor({3}, int64), 3); },
       error<ValueError>("one_hot: index 3 is outside 0..2"
                         "\n  got    indices (1,), first at (0,), 1 of 1 outside; 3 classes")},
      {"one_hot", [] { one_hot(index, 0); },
       error<ValueError>("one_hot: needs at least 1 class, not 0")},
      {"one_hot", [] { one_hot(full({1}, 0x1p62, int64)); },
       error<ShapeError>("shape: (1, 4611686018427387905) has too many elements")},
      {"nll_loss",
       [] {
         nll_loss(x, tensor({0, 3}, int64));
       },
       error<ValueError>("nll_loss: target 3 is outside 0..2"
                         "\n  got    input (2, 3) (3 classes), target (2,), first at (1,), "
                         "1 of 2 outside; ignore_index -100")},
      {"cross_entropy",
       [] {
         cross_entropy(x, tensor({0, -1}, int64));
       },
       error<ValueError>("cross_entropy: target -1 is outside 0..2"
                         "\n  got    input (2, 3) (3 classes), target (2,), first at (1,), "
                         "1 of 2 outside; ignore_index -100")},
      {"cross_entropy", [] { cross_entropy(x, index, {.label_smoothing = std::nan("")}); },
       error<ValueError>("cross_entropy: label_smoothing nan is outside 0..1")},
      {"topk", [] { topk(x, 4); },
       error<ValueError>("topk: k 4 is outside 0..3"
                         "\n  got    x (2, 3) float32, axis 1")},
      {"topk", [] { topk(x, -1); },
       error<ValueError>("topk: k -1 is outside 0..3"
                         "\n  got    x (2, 3) float32, axis 1")},
      {"Tensor::select", [] { x.select(0, 2); },
       error<ValueError>("select: index 2 is outside -2..1"
                         "\n  got    x (2, 3), axis 0")},
      {"Tensor::as_strided",
       [] {
         x.as_strided({2, 3}, {3, 2});
       },
       error<ValueError>(
           "as_strided: reaches outside the memory of x"
           "\n  got    shape (2, 3), strides (3, 2), offset 0, memory of 6 elements")},
      {"Tensor::as_strided",
       [] {
         x.expand({2, 2, 3}).as_strided({2}, {1});
       },
       error<ValueError>("as_strided: several elements of x share memory"
                         "\n  got    x (2, 2, 3) float32 with strides (0, 3, 1)"
                         "\n  hint   contiguous() makes a copy without")},
      {"Tensor::operator[]", [] { x[-3]; },
       error<ValueError>("select: index -3 is outside -2..1"
                         "\n  got    x (2, 3), axis 0")},
      {"Tensor::at",
       [] {
         x.at({0, 3});
       },
       error<ValueError>("at: index 3 is outside -3..2 on axis 1"
                         "\n  got    index (0, 3), tensor (2, 3)")},
      {"Tensor::slice", [] { x.slice(0, 0, 1, 0); },
       error<ValueError>("slice: needs a step of at least 1, not 0")},
      {"split", [] { split(x, 0); }, error<ValueError>("split: needs a size of at least 1, not 0")},
      {"split",
       [] {
         split(x, std::vector<Index>{1, 2});
       },
       error<ValueError>("split: the sizes add up to more than 2"
                         "\n  got    x (2, 3) float32, axis 0")},
      {"split",
       [] {
         split(x, std::vector<Index>{-1, 3});
       },
       error<ValueError>("split: negative size -1")},
      {"split",
       [] {
         split(x, std::vector<Index>{kLargest, kLargest});
       },
       error<ValueError>("split: the sizes add up to more than 2"
                         "\n  got    x (2, 3) float32, axis 0")},
      {"chunk", [] { chunk(x, 0); }, error<ValueError>("chunk: needs at least 1 piece, not 0")},
      {"slice_backward",
       [] {
         slice_backward(x, {3, 3}, 0, 2, 1);
       },
       error<ValueError>("slice_backward: 2 elements from 2 in steps of 1 do not fit an axis of 3"
                         "\n  got    x (2, 3), shape (3, 3)")},
      {"dropout", [] { dropout(x, std::nan("")); },
       error<ValueError>("dropout: p nan is outside 0..1")},
      {"dropout_with_key", [] { dropout_with_key(x, 1.5, 1); },
       error<ValueError>("dropout: p 1.5 is outside 0..1")},
      {"bernoulli", [] { bernoulli({2}, std::nan("")); },
       error<ValueError>("bernoulli: p nan is outside 0..1")},
      {"check_probability", [] { check_probability("caller", -0.5); },
       error<ValueError>("caller: p -0.5 is outside 0..1")},
      {"scaled_dot_product_attention",
       [] { scaled_dot_product_attention(heads, heads, heads, {.dropout_p = std::nan("")}); },
       error<ValueError>("dropout: p nan is outside 0..1")},
      {"softplus", [] { softplus(x, 0); },
       error<ValueError>("softplus: beta must be above 0, not 0")},
      {"rotary_embedding",
       [] {
         rotary_embedding(zeros({2, 4}), 0, -1.0);
       },
       error<ValueError>("rotary_embedding: base must be above 0, not -1")},
      {"uniform", [] { uniform({2}, 1, 0); },
       error<ValueError>("uniform: low 1 to high 0 is no interval"
                         "\n  need   low <= high")},
      {"uniform", [] { uniform({2}, -3e38, 3e38); },
       error<ValueError>("uniform: low -3e+38 and high 3e+38 are too far for float32"
                         "\n  need   low, high and high - low of at most 3.40282e+38")},
      {"randint", [] { randint(2, 2, {2}); },
       error<ValueError>("randint: low 2 is not below high 2"
                         "\n  need   low < high: the numbers drawn are low .. high - 1")},
      {"arange", [] { arange(0, 1, 0.25); },
       error<ValueError>("arange: 0.25 does not fit a int64 tensor"
                         "\n  hint   arange(start, end, step, float32)")},
      {"arange", [] { arange(0.5, 3); },
       error<ValueError>("arange: 0.5 does not fit a int64 tensor"
                         "\n  hint   arange(start, end, step, float32)")},
      {"embedding",
       [] {
         embedding(zeros({2}, int64), zeros({3, 2}), 3);
       },
       error<ValueError>("embedding: padding_idx 3 is outside 0..2"
                         "\n  got    weight (3, 2) float32")},
      {"embedding",
       [] {
         embedding(zeros({2}, int64), zeros({3, 2}), -2);
       },
       error<ValueError>("embedding: padding_idx -2 is outside 0..2"
                         "\n  got    weight (3, 2) float32")},
      {"add", [] { zeros({2}, int64) + zeros({2}, float64); },
       error<DTypeError>("add: int64 and float64 are not mixed silently"
                         "\n  got    x (2,) int64, other (2,) float64"
                         "\n  hint   x.to(float64)")},
      {"arange", [] { arange(0, 5, 0); },
       error<ValueError>("arange: no way from 0 to 5 in steps of 0")},
      {"arange", [] { arange(0, std::nan("")); },
       error<ValueError>("arange: no way from 0 to nan in steps of 1")},
      {"arange", [] { arange(-1); },
       error<ValueError>("arange: no way from 0 to -1 in steps of 1")},
      {"linspace", [] { linspace(0, 1, -1); },
       error<ValueError>("linspace: negative number of steps -1")},
      {"einsum",
       [] {
         einsum("ij->ji", {x, x});
       },
       error<ValueError>(
           "einsum: 1 terms for 2 operands"
           "\n  got    equation 'ij->ji'"
           "\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands")},
      {"einsum", [] { einsum("i?->i", {x}); },
       error<ValueError>(
           "einsum: '?' is no name of an axis"
           "\n  got    equation 'i?->i'"
           "\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands")},
      {"einsum", [] { einsum("ij->ik", {x}); },
       error<ValueError>(
           "einsum: no operand has the axis 'k'"
           "\n  got    equation 'ij->ik'"
           "\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands")},
      {"einsum", [] { einsum("ij->ii", {x}); },
       error<ValueError>(
           "einsum: the result names 'i' twice"
           "\n  got    equation 'ij->ii'"
           "\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands")},
      {"einsum", [] { einsum("ijk->i", {x}); },
       error<ValueError>(
           "einsum: term 'ijk' does not name the axes of (2, 3)"
           "\n  got    equation 'ijk->i'"
           "\n  need   letters for axes, as in \"bik,bkj->bij\", for one or two operands")},
      {"AttentionMask::padding",
       [] {
         AttentionMask::padding({1, 4}, 3);
       },
       error<ValueError>("attention mask: length 4 is outside 0..3")},
      {"AttentionMask::with_fill", [] { AttentionMask::causal(2, 2).with_fill(kNaN); },
       error<ValueError>("attention mask: a fill of nan hides nothing"
                         "\n  need   a number, or -inf")},
      {"AttentionMask::causal", [] { AttentionMask::causal(-1, 2); },
       error<ValueError>("attention mask: causal needs lengths of at least 0, not -1 and 2")},
      {"Generator::random_below", [] { Generator().random_below(0); },
       error<ValueError>("random_below: no number is below 0")},
      {"Generator::randint", [] { Generator().randint(3, 3); },
       error<ValueError>("randint: low 3 is not below high 3"
                         "\n  need   low < high: the numbers drawn are low .. high - 1")},
      {"Generator::bernoulli", [] { Generator().bernoulli(2.0); },
       error<ValueError>("bernoulli: p 2 is outside 0..1")},
      {"Generator::permutation", [] { Generator().permutation(-1); },
       error<ValueError>("permutation: n -1 is negative")},
      {"Generator::permutation", [] { Generator().permutation(kLargest); },
       error<ShapeError>("shape: (9223372036854775807,) has too many elements")},
      {"Generator::set_state", [] { Generator().set_state("no state"); },
       error<ValueError>("set_state: this text is not the state of a Generator"
                         "\n  got    8 characters"
                         "\n  need   what Generator::state() returned, unchanged")},
      {"Generator::fill_randint", [] { Generator().fill_randint({}, 1, 0); },
       error<ValueError>("randint: low 1 is not below high 0"
                         "\n  need   low < high: the numbers drawn are low .. high - 1")},
      {"random::Numpy", [] { random::Numpy(-1); },
       error<ValueError>("random::Numpy: seed -1 is outside 0..4294967295")},
      {"set_num_threads", [] { set_num_threads(0); },
       error<ValueError>("set_num_threads: needs at least 1, not 0")},
      {"norm", [] { norm(x, -1); }, error<ValueError>("norm: p must be above 0, not -1")},
      {"AttentionMask::padding", [] { AttentionMask::padding(std::vector<Index>{}, -1); },
       error<ValueError>("attention mask: padding cannot have -1 keys")},
      {"MultiHeadAttention", [] { MultiHeadAttention({.d_model = 4, .n_heads = 2, .vdim = -2}); },
       error<ValueError>("MultiHeadAttention: kdim 0 and vdim -2 must not be negative")},
      {"dropout", [] { dropout(x, 2.0, false); },
       error<ValueError>("dropout: p 2 is outside 0..1")},
  };
}

Rows tape() {
  return {
      {"backward", [] { backward(x); },
       error<AutogradError>(
           "backward: this tensor is not on a tape"
           "\n  got    (2, 3) float32, requires no gradient"
           "\n  hint   call requires_grad_() on the inputs, and leave NoGrad scopes")},
      {"backward", [] { backward(wanted * 2.0); },
       error<AutogradError>(
           "backward: needs a single number, this tensor has 3"
           "\n  got    (3,) float64, from mul"
           "\n  hint   mean().backward() for training; backward({.gradient = g}) for a "
           "vector-Jacobian product")},
      {"backward",
       [] {
         const Tensor loss = (wanted * wanted).sum();
         loss.backward();
         loss.backward();
       },
       error<AutogradError>("backward: this tape was used already, and its saved tensors released"
                            "\n  got    at step sum ()"
                            "\n  hint   detach() a state that is carried from step to step; "
                            "{.retain_graph = true} for two losses on one tape")},
      {"backward",
       [] {
         Tensor y = exp(wanted);
         {
           const NoGrad no_grad;
           y.fill_(1.0);
         }
         y.sum().backward();
       },
       error<AutogradError>("exp backward: its saved output was changed in place"
                            "\n  got    (3,), saved at version 0, now version 1, changed by fill_"
                            "\n  hint   change a clone(), or change it after backward()")},
      {"gradients", [] { gradients({x}, {wanted}); },
       error<AutogradError>("gradients: the outputs do not depend on input 0"
                            "\n  got    (3,) float64"
                            "\n  hint   {.allow_unused = true} gives zeros for it")},
      {"gradients", [] { gradients({wanted.sum()}, {x}); },
       error<AutogradError>("gradients: input 0 requires no gradient"
                            "\n  got    (2, 3) float32"
                            "\n  hint   requires_grad_() before it is used")},
      {"gradients", [] { gradients({wanted.sum()}, {leaf({1})}); },
       error<AutogradError>("gradients: the outputs do not depend on input 0"
                            "\n  got    (1,) float64"
                            "\n  hint   {.allow_unused = true} gives zeros for it")},
      {"gradients",
       [] {
         gradients({wanted.sum()}, {wanted}, {.grad_outputs = {x, x}});
       },
       error<ValueError>("gradients: 2 grad_outputs for 1 outputs")},
      {"Tensor::requires_grad_", [] { (wanted * 2.0).requires_grad_(false); },
       error<AutogradError>("requires_grad_: this tensor is the result of mul"
                            "\n  hint   detach() first, to start a new tape from its numbers")},
      {"Tensor::set_grad", [] { x.set_grad(x); },
       error<AutogradError>("set_grad: this tensor requires no gradient"
                            "\n  got    (2, 3) float32"
                            "\n  hint   requires_grad_() before it is used")},
      {"Tensor::zero_grad", [] { x.zero_grad(); },
       error<AutogradError>("set_grad: this tensor requires no gradient"
                            "\n  got    (2, 3) float32"
                            "\n  hint   requires_grad_() before it is used")},
      {"Tensor::retain_grad", [] { x.retain_grad(); },
       error<AutogradError>("retain_grad: this tensor requires no gradient"
                            "\n  got    (2, 3) float32"
                            "\n  hint   requires_grad_() before it is used")},
      {"Tensor::register_hook", [] { x.register_hook([](const Tensor& g) { return g; }); },
       error<AutogradError>("register_hook: this tensor requires no gradient"
                            "\n  got    (2, 3) float32"
                            "\n  hint   requires_grad_() before it is used")},
      {"Tensor::register_hook",
       [] {
         const Tensor hooked = leaf({1, 2});
         hooked.register_hook([](const Tensor&) { return zeros({3}); });
         hooked.sum().backward();
       },
       error<AutogradError>("hook on leaf: returned a gradient that does not fit"
                            "\n  got    (3,) float32"
                            "\n  need   (2,) float64")},
      {"Tensor::copy_", [] { Tensor(wanted).copy_(x); },
       error<AutogradError>(
           "copy_: a tensor on the tape cannot be changed in place"
           "\n  got    x (3,) float64, a leaf"
           "\n  hint   NoGrad no_grad; for an update of a parameter, or the op without "
           "its underscore")},
      {"Tensor::fill_", [] { Tensor(wanted).fill_(0.0); },
       error<AutogradError>(
           "fill_: a tensor on the tape cannot be changed in place"
           "\n  got    x (3,) float64, a leaf"
           "\n  hint   NoGrad no_grad; for an update of a parameter, or the op without "
           "its underscore")},
      {"Tensor::zero_", [] { Tensor(wanted).zero_(); },
       error<AutogradError>(
           "fill_: a tensor on the tape cannot be changed in place"
           "\n  got    x (3,) float64, a leaf"
           "\n  hint   NoGrad no_grad; for an update of a parameter, or the op without "
           "its underscore")},
      {"Tensor::add_", [] { zeros({3}, float64).add_(wanted); },
       error<AutogradError>("add_: the change would lose the gradient of the other operand"
                            "\n  got    other (3,) float64, requires a gradient"
                            "\n  hint   NoGrad no_grad; or other.detach(), or the op without its "
                            "underscore")},
      {"Tensor::mul_", [] { Tensor(wanted).mul_(2.0); },
       error<AutogradError>(
           "mul_: a tensor on the tape cannot be changed in place"
           "\n  got    x (3,) float64, a leaf"
           "\n  hint   NoGrad no_grad; for an update of a parameter, or the op without "
           "its underscore")},
      {"Tensor::fill_", [] { zeros({1}).expand({3}).fill_(0.0); },
       error<ValueError>("fill_: several elements of x share memory"
                         "\n  got    x (3,) float32 with strides (0,)"
                         "\n  hint   contiguous() makes a copy that can be changed")},
      {"Function", [] { Function({.name = ""}); },
       error<ValueError>("Function: needs a name and a forward function")},
      {"Function",
       [] {
         Function({.name = "empty", .forward = [](const Inputs&) { return Tensor(); }})({wanted});
       },
       error<AutogradError>("empty: forward returned no tensor")},
      {"Function",
       [] {
         const Function f({.name = "wrong",
                           .forward = [](const Inputs& in) { return in[0] * 1.0; },
                           .rules = {[](const Vjp& v) { return v.grad().sum(); }}});
         f({wanted}).sum().backward();
       },
       error<AutogradError>("wrong backward: its rule returned a gradient that does not fit input 0"
                            "\n  got    () float64"
                            "\n  need   (3,) float64, as the input")},
      {"Vjp::input",
       [] {
         const Function f({.name = "greedy",
                           .forward = [](const Inputs& in) { return in[0] * 1.0; },
                           .rules = {[](const Vjp& v) { return v.input(1); }}});
         f({wanted}).sum().backward();
       },
       error<AutogradError>("greedy backward: its rule asks for input 1 of 1")},
      {"Vjp::input",
       [] {
         const Function f({.name = "forgetful",
                           .forward = [](const Inputs& in) { return in[0] * 1.0; },
                           .rules = {[](const Vjp& v) { return v.input(0); }},
                           .saves = Saves::nothing});
         f({wanted}).sum().backward();
       },
       error<AutogradError>(
           "forgetful backward: its rule asks for input 0, which the step did not save"
           "\n  hint   name it in the Saves that record() is given")},
      {"Vjp::output",
       [] {
         const Function f({.name = "forgetful",
                           .forward = [](const Inputs& in) { return in[0] * 1.0; },
                           .rules = {[](const Vjp& v) { return v.output(); }},
                           .saves = Saves::nothing});
         f({wanted}).sum().backward();
       },
       error<AutogradError>(
           "forgetful backward: its rule asks for the output, which the step did not "
           "save"
           "\n  hint   name it in the Saves that record() is given")},
      {"Tape::position", [] { Tape(wanted.sum()).position(*leaf({1}).impl().node); },
       error<ValueError>("tape: leaf is no step of this tape")},
      {"NanTrace",
       [] {
         const NanTrace trace;
         gradus::log(wanted - 2.0);
       },
       error<AutogradError>("log: its result turned NaN at (0,)"
                            "\n  got    (3,) float64 from inputs (3,), all finite")},
      {"gradcheck", [] { gradcheck([](const Tensor& a) { return a; }, {x}); },
       error<DTypeError>("gradcheck: input 0 is float32, too coarse for differences"
                         "\n  got    input 0 (2, 3) float32"
                         "\n  need   float64: float32 rounds a step of 6e-6 away"
                         "\n  hint   x.to(float64), and model.to(float64) for a layer")},
      {"gradcheck", [] { gradcheck([](const Tensor& a) { return a; }, {index}); },
       error<ValueError>("gradcheck: nothing to check: no input is a floating tensor"
                         "\n  got    1 inputs")},
      {"gradgradcheck",
       [] {
         gradgradcheck([](const Tensor& a) { return a; }, {x, x});
       },
       error<DTypeError>("gradcheck: input 0 is float32, too coarse for differences"
                         "\n  got    input 0 (2, 3) float32"
                         "\n  need   float64: float32 rounds a step of 6e-6 away"
                         "\n  hint   x.to(float64), and model.to(float64) for a layer")},
      {"gradcheck", [] { gradcheck([](const Tensor& a) { return a; }, {wanted}, {.step = -1.0}); },
       error<ValueError>("gradcheck: step -1 is not a number from 0 up")},
  };
}

Rows optimisers() {
  return {
      {"SGD", [] { SGD made({wanted}, {.lr = -1}); },
       error<ValueError>("optimizer: needs an lr of at least 0, not -1")},
      {"SGD", [] { SGD made({wanted}, {.momentum = std::nan("")}); },
       error<ValueError>("SGD: an option is outside its range"
                         "\n  got    momentum nan, dampening 0, weight_decay 0"
                         "\n  need   dampening in [0, 1], the others at least 0")},
      {"SGD", [] { SGD made({wanted}, {.nesterov = true}); },
       error<ValueError>("SGD: nesterov needs a momentum, and no dampening"
                         "\n  got    momentum 0, dampening 0")},
      {"SGD", [] { SGD made({}); }, error<ValueError>("optimizer: no parameters to step")},
      {"SGD", [] { SGD made({x}); },
       error<AutogradError>("optimizer: a parameter must be a leaf that requires a gradient"
                            "\n  got    (2, 3) float32")},
      {"Adam", [] { Adam made({wanted}, {.beta1 = 1.0}); },
       error<ValueError>("Adam: an option is outside its range"
                         "\n  got    lr 0.001, beta1 1, beta2 0.999, eps 1e-08, weight_decay 0"
                         "\n  need   betas in [0, 1), the others at least 0")},
      {"AdamW", [] { AdamW made({wanted}, {.eps = -1.0}); },
       error<ValueError>("AdamW: an option is outside its range"
                         "\n  got    lr 0.001, beta1 0.9, beta2 0.999, eps -1, weight_decay 0.01"
                         "\n  need   betas in [0, 1), the others at least 0")},
      {"SGD",
       [] {
         SGD made({{.parameters = {wanted}}, {.parameters = {wanted}}});
       },
       error<ValueError>("optimizer: a parameter is in two groups, 0 and 1"
                         "\n  got    parameter 0, (3,) float64")},
      {"Adam", [] { Adam made({{.parameters = {wanted}, .weight_decay = -1.0}}); },
       error<ValueError>("optimizer: group 0 has a number below 0"
                         "\n  got    lr_factor 1, weight_decay -1")},
      {"check_all_grouped",
       [] {
         check_all_grouped({wanted}, {wanted, x});
       },
       error<ValueError>("check_all_grouped: 1 of 2 parameters are in no group"
                         "\n  got    the first is parameter 1, (2, 3) float32")},
      {"decay_groups", [] { decay_groups({nothing}); }, undefined()},
      {"Optimizer::set_lr", [] { SGD({wanted}).set_lr(std::nan("")); },
       error<ValueError>("optimizer: needs an lr of at least 0, not nan")},
      {"Optimizer::load_state_dict",
       [] {
         SGD({wanted}).load_state_dict({{"0.step", x}});
       },
       error<ValueError>("load_state_dict: the state does not match the optimizer: 1 unexpected"
                         "\n  0.step   unexpected (2, 3) float32")},
      {"clip_grad_norm_", [] { clip_grad_norm_({wanted}, -1); },
       error<ValueError>(
           "clip_grad_norm_: needs max_norm of at least 0 and norm_type above 0, not -1 "
           "and 2")},
      {"clip_grad_value_", [] { clip_grad_value_({wanted}, std::nan("")); },
       error<ValueError>("clip_grad_value_: needs a value of at least 0, not nan")},
      {"schedule::linear_warmup", [] { schedule::linear_warmup(-1); },
       error<ValueError>("schedule: linear_warmup needs at least 0 steps, not -1")},
      {"schedule::cosine", [] { schedule::cosine(0); },
       error<ValueError>("schedule: cosine needs at least 1 steps, not 0")},
      {"schedule::step", [] { schedule::step(0); },
       error<ValueError>("schedule: step needs at least 1 steps, not 0")},
      {"schedule::one_cycle", [] { schedule::one_cycle(0); },
       error<ValueError>("schedule: one_cycle needs at least 1 steps, not 0")},
      {"schedule::one_cycle", [] { schedule::one_cycle(10, std::nan("")); },
       error<ValueError>(
           "schedule: one_cycle needs a rise in 0..1 and divisors above 0, not nan, 25 "
           "and 10000")},
      {"schedule::then", [] { schedule::then(schedule::constant(), -1, schedule::constant()); },
       error<ValueError>("schedule: then needs at least 0 steps, not -1")},
  };
}

/// A file that is missing, or not what it says; every other fault of a file is in
/// tests/framework/io.
Rows files() {
  const Expected no_file = error<IoError>("load: cannot read no file: No such file or directory");
  return {
      {"read_file", [] { read_file("no file"); }, no_file},
      {"write_file", [] { write_file("no/folder/file", ""); },
       error<IoError>("save: cannot write no/folder/file: No such file or directory"
                      "\n  hint   there is no folder no/folder")},
      {"load_safetensors", [] { load_safetensors("no file"); }, no_file},
      {"load_safetensors_metadata", [] { load_safetensors_metadata("no file"); }, no_file},
      {"parse_safetensors", [] { parse_safetensors("{}", "f"); },
       error<IoError>("load: f is cut short"
                      "\n  got    2 bytes; the length of its header alone takes 8")},
      {"save_safetensors",
       [] {
         save_safetensors("no/folder/file", {{"w", nothing}});
       },
       error<ValueError>("save: tensor 'w' is undefined")},
      {"safetensors_bytes",
       [] {
         safetensors_bytes({{"__metadata__", x}});
       },
       error<ValueError>(
           "save: no tensor can be named __metadata__: the format keeps it for text")},
      {"safetensors_bytes",
       [] {
         safetensors_bytes({}, {{"key", "\xFF"}});
       },
       error<ValueError>("save: a name or text is not UTF-8"
                         "\n  got    '\xFF'")},
      {"save_checkpoint", [] { save_checkpoint("no/folder/file", {.step = -1}); },
       error<ValueError>("save: step -1 is below 0")},
      {"load_checkpoint", [] { load_checkpoint("no file"); }, no_file},
      {"score_of_checkpoint", [] { score_of_checkpoint("no file"); }, no_file},
      {"CheckpointFolder", [] { CheckpointFolder("no folder", {.keep_best = -1}); },
       error<ValueError>(
           "CheckpointFolder: keep_last 2 and keep_best -1 must be at least 1 and 0")},
      {"CheckpointFolder::latest", [] { CheckpointFolder("no folder").latest(); },
       error<IoError>("load: no folder holds no checkpoint")},
      {"CheckpointFolder::best", [] { CheckpointFolder("no folder").best(); },
       error<IoError>("load: no folder holds no checkpoint with a score")},
  };
}

Transformer small_transformer() {
  return Transformer({.d_model = 4,
                      .n_heads = 2,
                      .num_encoder_layers = 1,
                      .num_decoder_layers = 1,
                      .dim_feedforward = 4});
}

Rows layers() {
  return {
      {"Linear", [] { Linear(0, 2); },
       error<ValueError>("Linear: cannot map 0 features to 2"
                         "\n  need   in_features of at least 1, out_features of at least 0")},
      {"Linear", [] { Linear(3, 2)(zeros({4})); },
       error<ShapeError>("linear: x has 4 features, the weight takes 3"
                         "\n  got    x (4,) float32, weight (2, 3) float32"
                         "\n  need   x (..., 3)")},
      {"Linear", [] { Linear(kHuge, kHuge); }, too_many()},
      {"Embedding", [] { Embedding(0, 2); },
       error<ValueError>("Embedding: needs at least one row and one column, not 0 and 2")},
      {"Embedding", [] { Embedding({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}); },
       error<ValueError>("Embedding: padding_idx 3 is outside 0..2")},
      {"Embedding", [] { Embedding(3, 2)(tensor({3}, int64)); },
       error<ValueError>("embedding: index 3 is outside 0..2"
                         "\n  got    indices (1,), first at (0,), 1 of 1 outside; weight (3, 2)")},
      {"LayerNorm", [] { LayerNorm(3)(zeros({4})); },
       error<ShapeError>("layer_norm: the last axes of x are not (3,)"
                         "\n  got    x (4,) float32")},
      {"LayerNorm", [] { LayerNorm(-1); }, error<ShapeError>("shape: negative size -1 in (-1,)")},
      {"Dropout", [] { Dropout(1.5); }, error<ValueError>("Dropout: p 1.5 is outside 0..1")},
      {"Dropout", [] { Dropout(std::nan("")); },
       error<ValueError>("Dropout: p nan is outside 0..1")},
      {"Softmax", [] { Softmax({.axis = 1})(zeros({4})); },
       error<ShapeError>("softmax: axis 1 is outside -1..0 (rank 1)")},
      {"MaskedFill", [] { MaskedFill()(heads, AttentionMask::causal(2, 2)); },
       mask_does_not_fit("(1, 4, 3, 4)")},
      {"FeedForward", [] { FeedForward({.d_model = 0, .d_hidden = 4}); },
       error<ValueError>("Linear: cannot map 0 features to 4"
                         "\n  need   in_features of at least 1, out_features of at least 0")},
      {"FeedForward", [] { FeedForward({.d_model = 3, .d_hidden = 4})(zeros({4})); },
       error<ShapeError>("linear: x has 4 features, the weight takes 3"
                         "\n  got    x (4,) float32, weight (4, 3) float32"
                         "\n  need   x (..., 3)")},
      {"FeedForward", [] { FeedForward({.d_model = 3, .d_hidden = 4, .dropout = -1.0}); },
       error<ValueError>("Dropout: p -1 is outside 0..1")},
      {"LearnedPositions",
       [] {
         LearnedPositions({.max_len = 2, .d_model = 3})(zeros({1, 4, 3}));
       },
       error<ShapeError>("LearnedPositions: x does not fit the table of positions"
                         "\n  got    x (1, 4, 3) float32"
                         "\n  need   (..., up to 2, 3)")},
      {"LearnedPositions", [] { LearnedPositions({.max_len = -1, .d_model = 3}); },
       error<ShapeError>("shape: negative size -1 in (-1, 3)")},
      {"SinusoidalPositions",
       [] {
         SinusoidalPositions({.max_len = 2, .d_model = 3})(zeros({1, 4, 3}));
       },
       error<ShapeError>("SinusoidalPositions: x does not fit the table of positions"
                         "\n  got    x (1, 4, 3) float32"
                         "\n  need   (..., up to 2, 3)")},
      {"SinusoidalPositions", [] { SinusoidalPositions({.max_len = 2, .d_model = -3}); },
       error<ShapeError>("shape: negative size -3 in (2, -3)")},
      {"SingleHeadAttention", [] { SingleHeadAttention({.d_model = 0}); },
       error<ValueError>("Linear: cannot map 0 features to 0"
                         "\n  need   in_features of at least 1, out_features of at least 0")},
      {"SingleHeadAttention",
       [] {
         SingleHeadAttention({.d_model = 4})(zeros({1, 2, 3}), zeros({1, 2, 3}), zeros({1, 2, 3}));
       },
       error<ShapeError>("SingleHeadAttention: query does not fit"
                         "\n  got    query (1, 2, 3) float32"
                         "\n  need   (batch, length, 4)")},
      {"MultiHeadAttention", [] { MultiHeadAttention({.d_model = 64, .n_heads = 6}); },
       error<ValueError>(
           "MultiHeadAttention: d_model 64 cannot be split into 6 heads (64 = 6*10 + 4)"
           "\n  hint   heads that fit 64: 1 2 4 8 16 32 64; a d_model that fits 6 "
           "heads: 60, 66")},
      {"MultiHeadAttention", [] { MultiHeadAttention({.d_model = 4, .n_heads = 0}); },
       error<ValueError>("MultiHeadAttention: d_model 4 and n_heads 0 must be at least 1")},
      {"MultiHeadAttention",
       [] {
         MultiHeadAttention({.d_model = 4, .n_heads = 2})(zeros({1, 2, 4}), zeros({1, 3, 4}),
                                                          zeros({1, 2, 4}));
       },
       error<ShapeError>("MultiHeadAttention: 3 keys but 2 values"
                         "\n  got    key (1, 3, 4) float32, value (1, 2, 4) float32")},
      {"MultiHeadAttention",
       [] {
         MultiHeadAttention({.d_model = 4, .n_heads = 2})(zeros({1, 2, 4}), zeros({2, 3, 4}),
                                                          zeros({2, 3, 4}));
       },
       error<ShapeError>(
           "MultiHeadAttention: batch sizes differ"
           "\n  got    query (1, 2, 4) float32, key (2, 3, 4) float32, value (2, 3, 4) "
           "float32")},
      {"MultiHeadAttention", [] { MultiHeadAttention({.d_model = kHuge, .n_heads = 3}); },
       error<ValueError>(
           "MultiHeadAttention: d_model 4294967296 cannot be split into 3 heads "
           "(4294967296 = 3*1431655765 + 1)"
           "\n  hint   heads that fit 4294967296: 1 2 4 8 16 32 64 128 256 512 1024; a "
           "d_model that fits 3 heads: 4294967295, 4294967298")},
      {"MultiHeadAttention", [] { MultiHeadAttention({.d_model = 4, .n_heads = 2, .kdim = -1}); },
       error<ValueError>("MultiHeadAttention: kdim -1 and vdim 0 must not be negative")},
      {"TransformerEncoderLayer", [] { TransformerEncoderLayer({.d_model = 4, .n_heads = 3}); },
       error<ValueError>("MultiHeadAttention: d_model 4 cannot be split into 3 heads (4 = 3*1 + 1)"
                         "\n  hint   heads that fit 4: 1 2 4; a d_model that fits 3 heads: 3, 6")},
      {"TransformerEncoderLayer",
       [] {
         TransformerEncoderLayer({.d_model = 4, .n_heads = 2, .norm_first = true})(
             zeros({1, 2, 3}));
       },
       error<ShapeError>("layer_norm: the last axes of x are not (4,)"
                         "\n  got    x (1, 2, 3) float32")},
      {"TransformerDecoderLayer",
       [] { TransformerDecoderLayer({.d_model = 4, .n_heads = 2, .dropout = 2.0}); },
       error<ValueError>("Dropout: p 2 is outside 0..1")},
      {"TransformerDecoderLayer",
       [] {
         TransformerDecoderLayer({.d_model = 4, .n_heads = 2})(zeros({1, 2, 4}), zeros({2, 4}));
       },
       error<ShapeError>("MultiHeadAttention: key does not fit"
                         "\n  got    key (2, 4) float32"
                         "\n  need   (batch, length, 4)")},
      {"TransformerEncoder",
       [] { TransformerEncoder({.layer = {.d_model = 4, .n_heads = 2}, .num_layers = -1}); },
       error<ValueError>("TransformerEncoder: num_layers -1 must not be negative")},
      {"TransformerDecoder",
       [] { TransformerDecoder({.layer = {.d_model = 4, .n_heads = 2}, .num_layers = -2}); },
       error<ValueError>("TransformerDecoder: num_layers -2 must not be negative")},
      {"Transformer", [] { Transformer({.d_model = 4, .n_heads = 3}); },
       error<ValueError>("MultiHeadAttention: d_model 4 cannot be split into 3 heads (4 = 3*1 + 1)"
                         "\n  hint   heads that fit 4: 1 2 4; a d_model that fits 3 heads: 3, 6")},
      {"Transformer",
       [] {
         small_transformer()(zeros({1, 2, 3}), zeros({1, 2, 4}));
       },
       error<ShapeError>("Transformer: src does not fit"
                         "\n  got    src (1, 2, 3) float32"
                         "\n  need   (batch, length, 4)")},
      {"Transformer",
       [] {
         small_transformer()(zeros({1, 2, 4}), zeros({4}));
       },
       error<ShapeError>("Transformer: tgt does not fit"
                         "\n  got    tgt (4,) float32"
                         "\n  need   (batch, length, 4)")},
      {"Transformer",
       [] {
         small_transformer()(zeros({1, 2, 4}), zeros({2, 2, 4}));
       },
       error<ShapeError>("Transformer: batch sizes differ"
                         "\n  got    src (1, 2, 4) float32, tgt (2, 2, 4) float32")},
      {"parameters_without_gradient", [] { parameters_without_gradient(Linear(1, 1), x); },
       error<AutogradError>("parameters_without_gradient: the loss is not on a tape"
                            "\n  got    (2, 3) float32")},
      {"Module::load_state_dict",
       [] {
         Linear(1, 1).load_state_dict({{"weight", zeros({2, 1})}, {"extra", x}});
       },
       error<ValueError>(
           "load_state_dict: the state does not match the module: 1 missing, 1 unexpected, 1 of "
           "another shape"
           "\n  bias     missing (1,) float32"
           "\n  extra    unexpected (2, 3) float32"
           "\n  weight   state (2, 1), module (1, 1)")},
      {"save_weights", [] { save_weights("no/folder/file", Linear(1, 1)); },
       error<IoError>("save: cannot write no/folder/file: No such file or directory"
                      "\n  hint   there is no folder no/folder")},
      {"load_weights",
       [] {
         Linear layer(1, 1);
         load_weights("no file", layer);
       },
       error<IoError>("load: cannot read no file: No such file or directory")},
      {"Module::to", [] { Linear(1, 1).to(int64); },
       error<DTypeError>("to: parameters cannot be int64"
                         "\n  need   float32 or float64")},
  };
}
// ---- language models ----

GPT small_gpt(Index n_layers = 1) {
  return GPT({.vocab_size = 5, .block_size = 4, .n_layers = n_layers, .n_heads = 2, .d_model = 4});
}

/// With two tokens of a batch of one in it.
KeyValueCache filled_cache() {
  KeyValueCache cache = small_gpt().empty_cache();
  small_gpt()(zeros({1, 2}, int64), cache);
  return cache;
}

Rows language_models() {
  return {
      {"ReLU", [] { ReLU()(heads.to(int64)); }, not_floating("relu", "(1, 4, 3, 4) int64")},
      {"GELU",
       [] {
         GELU()
         (heads.to(int64));
       },
       not_floating("gelu", "(1, 4, 3, 4) int64")},
      {"SiLU", [] { SiLU()(heads.to(int64)); }, not_floating("silu", "(1, 4, 3, 4) int64")},
      {"Tanh", [] { Tanh()(heads.to(int64)); }, not_floating("tanh", "(1, 4, 3, 4) int64")},
      {"Sequential", [] { Sequential(Linear(1, 1))[1]; },
       error<ValueError>("Sequential: no layer 1 among 1")},
      {"RMSNorm", [] { RMSNorm({.normalized_shape = {3}, .eps = -0.5}); },
       error<ValueError>("RMSNorm: negative eps -0.5")},
      {"RMSNorm", [] { RMSNorm({.normalized_shape = {-3}, .elementwise_affine = false}); },
       error<ShapeError>("shape: negative size -3 in (-3,)")},
      {"RMSNorm", [] { RMSNorm(3)(zeros({4})); },
       error<ShapeError>("rms_norm: the last axes of x are not (3,)"
                         "\n  got    x (4,) float32")},
      {"init::xavier_uniform_", [] { init::xavier_uniform_(vector); },
       error<ShapeError>("xavier_uniform_: needs at least two axes to tell inputs from outputs"
                         "\n  got    tensor (4,) float32"
                         "\n  need   (out, in, ...)")},
      {"init::kaiming_normal_", [] { init::kaiming_normal_(vector); },
       error<ShapeError>("kaiming_normal_: needs at least two axes to tell inputs from outputs"
                         "\n  got    tensor (4,) float32"
                         "\n  need   (out, in, ...)")},
      {"init::normal_", [] { init::normal_(vector, 0.0, -1.0); },
       error<ValueError>("normal_: deviation -1 must be at least 0")},
      {"init::uniform_", [] { init::uniform_(vector, 1.0, 0.0); },
       error<ValueError>("uniform: low 1 to high 0 is no interval"
                         "\n  need   low <= high")},
      {"LearnedPositions",
       [] {
         LearnedPositions({.max_len = 4, .d_model = 3})(zeros({1, 2, 3}), 3);
       },
       error<ShapeError>("LearnedPositions: x does not fit the table of positions"
                         "\n  got    x (1, 2, 3) float32 from position 3"
                         "\n  need   (..., up to 1, 3)")},
      {"LearnedPositions",
       [] {
         LearnedPositions({.max_len = 4, .d_model = 3})(zeros({1, 2, 3}), 5);
       },
       error<ValueError>("LearnedPositions: position 5 is outside 0..4")},
      {"CausalSelfAttention", [] { CausalSelfAttention({.d_model = 0, .n_heads = 1}); },
       error<ValueError>("CausalSelfAttention: d_model 0 and n_heads 1 must be at least 1")},
      {"CausalSelfAttention",
       [] { CausalSelfAttention({.d_model = 8, .n_heads = 4, .n_kv_heads = 3}); },
       error<ValueError>(
           "CausalSelfAttention: 4 query heads cannot share 3 heads of keys and values evenly")},
      {"CausalSelfAttention",
       [] { CausalSelfAttention({.d_model = 6, .n_heads = 2, .rotary = true}); },
       error<ValueError>("CausalSelfAttention: rotary positions turn pairs of features, and a head "
                         "has 3 (6 / 2)")},
      {"CausalSelfAttention",
       [] {
         CausalSelfAttention({.d_model = 4, .n_heads = 2})(zeros({2, 4}));
       },
       error<ShapeError>("CausalSelfAttention: x does not fit"
                         "\n  got    x (2, 4) float32"
                         "\n  need   (batch, length, 4)")},
      {"KeyValueCache", [] { KeyValueCache(-1); },
       error<ValueError>("KeyValueCache: n_layers -1 must not be negative")},
      {"KeyValueCache", [] { KeyValueCache(2).layer(2); },
       error<ValueError>("KeyValueCache: no layer 2 among 2")},
      {"KeyValueCache",
       [] {
         KeyValueCache cache = filled_cache();
         small_gpt()(zeros({3, 1}, int64), cache);
       },
       error<ShapeError>("KeyValueCache: the new keys do not continue those that were read"
                         "\n  got    new keys (3, 2, 1, 2) float32, read (1, 2, 2, 2) float32"
                         "\n  need   equal sizes of batch, heads and features"
                         "\n  hint   clear() for another batch")},
      {"GPTBlock",
       [] {
         GPTBlock({.vocab_size = 5, .block_size = 4, .n_layers = 1, .n_heads = 3, .d_model = 4});
       },
       error<ValueError>("CausalSelfAttention: d_model 4 cannot be split into 3 heads (4 = 3*1 + 1)"
                         "\n  hint   heads that fit 4: 1 2 4; a d_model that fits 3 heads: 3, 6")},
      {"GPT", [] { small_gpt(0); },
       error<ValueError>("GPT: vocab_size 5, block_size 4 and n_layers 0 must be at least 1")},
      {"GPT",
       [] {
         GPT({.vocab_size = 5,
              .block_size = 4,
              .n_layers = 1,
              .n_heads = 2,
              .d_model = 4,
              .d_hidden = -8});
       },
       error<ValueError>("GPT: d_hidden -8 must not be negative")},
      {"GPT", [] { small_gpt()(zeros({4}, int64)); },
       error<ShapeError>("GPT: needs tokens (batch, length)"
                         "\n  got    tokens (4,) int64")},
      {"GPT",
       [] {
         small_gpt()(zeros({1, 4}));
       },
       error<DTypeError>("GPT: tokens must be int64, not float32"
                         "\n  got    tokens (1, 4) float32"
                         "\n  hint   tokens.to(int64)")},
      {"GPT",
       [] {
         small_gpt()(zeros({1, 5}, int64));
       },
       error<ShapeError>("GPT: 5 tokens are more than block_size 4"
                         "\n  got    tokens (1, 5) int64"
                         "\n  hint   the last block_size tokens, read from an empty cache")},
      {"GPT",
       [] {
         KeyValueCache cache = filled_cache();
         small_gpt()(zeros({1, 3}, int64), cache);
       },
       error<ShapeError>("GPT: 5 tokens are more than block_size 4"
                         "\n  got    tokens (1, 3) int64 after 2 cached"
                         "\n  hint   the last block_size tokens, read from an empty cache")},
      {"GPT",
       [] {
         KeyValueCache cache(2);
         small_gpt()(zeros({1, 3}, int64), cache);
       },
       error<ValueError>("GPT: the cache has 2 layers, the model 1")},
      {"sampling_probabilities",
       [] {
         sampling_probabilities(zeros({2, 3}));
       },
       error<ShapeError>("sampling: needs the logits of one position"
                         "\n  got    logits (2, 3) float32"
                         "\n  need   (V,)")},
      {"sampling_probabilities", [] { sampling_probabilities(zeros({3}, int64)); },
       not_floating("sampling", "(3,) int64")},
      {"sampling_probabilities",
       [] {
         sampling_probabilities(tensor({0, kInf}));
       },
       error<ValueError>("sampling: logit 1 is inf"
                         "\n  need   numbers, or -inf for a token that may not come")},
      {"sampling_probabilities", [] { sampling_probabilities(full({3}, -kInf)); },
       error<ValueError>("sampling: all 3 logits are -inf")},
      {"sampling_probabilities", [] { sampling_probabilities(zeros({3}), {.temperature = kNaN}); },
       error<ValueError>("sampling: temperature nan must be at least 0")},
      {"sampling_probabilities", [] { sampling_probabilities(zeros({3}), {.top_k = -1}); },
       error<ValueError>("sampling: top_k -1 must be at least 0"
                         "\n  hint   0 keeps all")},
      {"sampling_probabilities", [] { sampling_probabilities(zeros({3}), {.top_p = 1.5}); },
       error<ValueError>("sampling: top_p 1.5 is outside 0..1")},
      {"generate",
       [] {
         Generator generator;
         generate(small_gpt(), {}, 1, {}, generator);
       },
       error<ValueError>("generate: the prompt is empty"
                         "\n  need   a token to go on from")},
      {"generate",
       [] {
         Generator generator;
         generate(small_gpt(), {0}, -1, {}, generator);
       },
       error<ValueError>("generate: count -1 must not be negative")},
  };
}

Rows whole_table() {
  make_operands();
  Rows all;
  for (const auto& group : {undefined_tensors, shapes, axes, no_elements, dtypes, numbers, tape,
                            optimisers, files, layers, language_models}) {
    const Rows rows = group();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

// ---- what the headers declare ----

/// Functions without a row, and why they need none.
const std::map<std::string, std::string> kWithoutErrors{
    {"current_path", "takes nothing"},
    {"default_generator", "takes nothing"},
    {"grad_enabled", "takes nothing"},
    {"num_threads", "takes nothing"},
    {"parallel_for", "takes any numbers: none below 1 are nothing to do"},
    {"manual_seed", "takes any number"},
    {"AttentionMask::without_causal", "takes nothing"},
    {"contiguous_strides", "takes any shape that element_count has passed"},
    {"record", "what it is given was checked by the op"},
    {"saved_bytes", "takes any step"},
    {"step_name", "takes any step"},
    {"to_dot", "takes any tape"},
    {"to_json", "takes any report"},
    {"fault_name", "takes any kind of fault"},
    {"operator<<", "prints whatever there is, an undefined tensor, too"},
    {"retain", "counts references"},
    {"release", "counts references"},
    {"schedule::constant", "takes any factor"},
    {"schedule::product", "takes any two schedules"},
    {"renamed", "takes any name"},
    {"state_as", "takes any state"},
    {"state_under", "takes any state"},
    {"Tensor::defined", "asks an undefined tensor, too"},
    {"Tensor::is_same", "asks an undefined tensor, too"},
    {"Tensor::requires_grad", "asks an undefined tensor, too"},
    {"Tensor::is_leaf", "an undefined tensor is one"},
    {"Tensor::grad", "undefined for any tensor without a gradient"},
    {"AttentionMask::hides_nothing", "takes nothing"},
    {"AttentionMask::fill", "takes nothing"},
    {"AttentionMask::takes_out", "takes nothing"},
};

std::vector<std::string> lines_of(const std::filesystem::path& header) {
  std::ifstream in(header);
  REQUIRE(in.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The name of the function that a line begins to declare, at this indentation, or "".
std::string declared(const std::string& line, const std::string& indentation) {
  static const std::regex pattern(
      R"(^(?:friend )?(?:inline )?(?:virtual )?(?:const )?[A-Za-z_][\w:<>]*(?: const)?[&*]? [&*]?)"
      R"((operator[^ (]{1,3}|[a-z]\w*)\(.*)");
  if (!line.starts_with(indentation)) return "";
  const std::string text = line.substr(indentation.size());
  std::smatch match;
  if (text.starts_with("return ") || !std::regex_match(text, match, pattern)) return "";
  return match[1];
}

/// Free functions of a header, those of namespace schedule with its name, and the public methods of
/// `classes`.
void add_functions(const std::filesystem::path& header, const std::set<std::string>& classes,
                   std::set<std::string>& names) {
  std::string scope;    // "schedule::" inside that namespace
  std::string skipped;  // a namespace of internals
  std::string inside;   // the class whose public part this is
  for (const std::string& line : lines_of(header)) {
    if (line.starts_with("namespace detail")) skipped = "detail";
    if (line.starts_with("}  // namespace detail")) skipped.clear();
    if (line.starts_with("namespace schedule")) scope = "schedule::";
    if (line.starts_with("class ")) inside = line.substr(6, line.find_first_of(" :;", 6) - 6);
    if (line.starts_with("}") || line.starts_with(" private:")) inside.clear();
    if (!skipped.empty()) continue;
    if (const std::string name = declared(line, ""); !name.empty()) names.insert(scope + name);
    const std::string method = classes.contains(inside) ? declared(line, "  ") : "";
    if (!method.empty()) {
      names.insert(line.starts_with("  friend ") ? method : inside + "::" + method);
    }
  }
}

/// The layers that a header declares: all classes but the bases they share.
void add_layers(const std::filesystem::path& header, std::set<std::string>& names) {
  static const std::regex pattern(R"(^class (\w+) : public (?:Module|Layer) \{)");
  for (const std::string& line : lines_of(header)) {
    std::smatch match;
    if (std::regex_match(line, match, pattern) && match[1] != "Layer") names.insert(match[1]);
  }
}

bool is_public(const std::filesystem::path& header) {
  const std::string name = header.filename().string();
  return header.extension() == ".h" && name != "launch.h" && name != "checks.h" &&
         name != "axes.h" && name.find("_internal") == std::string::npos;
}

std::set<std::string> public_functions() {
  namespace fs = std::filesystem;
  const fs::path source = fs::path(GRADUS_TEST_GOLDENS).parent_path().parent_path();
  std::set<std::string> names;
  for (const char* folder : {"framework/ops", "framework/autograd", "framework/gradcheck",
                             "framework/optim", "framework/io"}) {
    for (const auto& header : fs::directory_iterator(source / folder)) {
      if (is_public(header.path())) add_functions(header.path(), {"AttentionMask"}, names);
    }
  }
  for (const char* header : {"tensor.h", "shape.h", "random.h", "parallel.h"}) {
    add_functions(source / "framework/core" / header, {"Tensor"}, names);
  }
  for (const auto& header : fs::directory_iterator(source / "layers")) {
    if (is_public(header.path())) add_layers(header.path(), names);
  }
  return names;
}

}  // namespace

TEST_CASE("errors: every wrong argument is answered by the right kind of error, word for word") {
  for (const Row& row : whole_table()) {
    INFO(row.function << ", expected:\n" << row.expected.text);
    try {
      row.call();
      FAIL_CHECK("nothing was thrown");
    } catch (const Error& error) {
      CHECK(std::type_index(typeid(error)) == row.expected.type);
      CHECK(std::string(error.what()) == row.expected.text);
    }
  }
}

TEST_CASE("errors: every public function is in the table, or in the list of those without errors") {
  const std::set<std::string> functions = public_functions();
  REQUIRE(functions.size() > 150);  // the headers were found, and understood
  std::set<std::string> covered;
  for (const Row& row : whole_table()) covered.insert(row.function);
  for (const std::string& function : functions) {
    INFO(function);
    CHECK(covered.contains(function) != kWithoutErrors.contains(function));
  }
  for (const auto& [function, reason] : kWithoutErrors) {
    INFO(function << ", which " << reason << ", is not declared any more");
    CHECK(functions.contains(function));
  }
}
