// What programs can do with framework/ops and the views and numbers of Tensor.
#include <array>
#include <sstream>

#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/axes.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
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
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/rotary.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/fuzz/program.h"

namespace gradus::fuzz {
namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

constexpr Unary kUnary[] = {exp,     log,  sqrt, rsqrt, reciprocal, square,    sin,
                            cos,     abs,  sign, floor, ceil,       erf,       tanh,
                            sigmoid, relu, silu, neg,   isnan,      isinf,     sum,
                            mean,    prod, max,  min,   zeros_like, ones_like, logical_not};

constexpr Binary kBinary[] = {mul, div, maximum, minimum, eq, ne, lt, le, gt, ge, pow, logical_or,
                              logical_and, logical_xor,
                              matmul, operator+, operator-, operator*, operator/ };

constexpr Tensor (*kCompareNumber[])(const Tensor&, double) = {eq, ne, lt, le, gt, ge};

std::optional<Index> maybe_integer(Program& p) {
  return p.rarely(4) ? std::nullopt : std::optional<Index>(p.integer());
}
std::optional<double> maybe_number(Program& p) {
  return p.rarely(4) ? std::nullopt : std::optional<double>(p.number());
}
Reduction reduction(Program& p) { return static_cast<Reduction>(p.below(3)); }
WhenAllHidden when_all_hidden(Program& p) { return static_cast<WhenAllHidden>(p.below(2)); }
RotaryPairs pairs(Program& p) { return static_cast<RotaryPairs>(p.below(2)); }

/// The shape of x with one axis replaced or removed.
Shape beside(Program& p, const Tensor& x, Index axis) {
  Shape shape = x.shape();
  if (shape.empty() || p.rarely(16)) return p.shape_like(x);
  axis = axis < 0 ? axis + shape.size() : axis;
  if (axis >= 0 && axis < shape.size()) shape[axis] = p.size();
  return shape;
}

Index size_at(const Tensor& x, Index axis) {
  const Index counted = axis < 0 ? axis + x.dim() : axis;
  return counted >= 0 && counted < x.dim() ? x.shape()[counted] : 1;
}

/// Targets for the classes on axis 1 (or the only axis) of x.
Tensor targets(Program& p, const Tensor& x) {
  if (p.rarely(8)) return p.tensor();
  Shape shape = x.shape();
  Index classes = 1;
  if (!shape.empty()) {
    const Index axis = shape.size() == 1 ? 0 : 1;
    classes = shape[axis];
    shape.erase(axis);
  }
  return p.indices(shape, classes);
}

Tensor class_weight(Program& p, const Tensor& x) {
  return p.optional({size_at(x, x.dim() == 1 ? 0 : 1)}, x.dtype());
}

/// Query, key and value that belong together, most of the time.
std::array<Tensor, 3> attention_operands(Program& p) {
  const DType dtype = p.rarely(16) ? p.dtype() : float64;
  const Index batch = p.size();
  const Index heads = p.below(4);
  const Index shared = p.rarely(4) && heads == 2 ? 1 : heads;
  const Index keys = p.size();
  const Index width = p.size();
  const Tensor query = p.filled({batch, heads, p.size(), width}, dtype);
  const Tensor key = p.filled({batch, shared, keys, width}, dtype);
  const Tensor value = p.rarely(8) ? p.tensor() : p.filled({batch, shared, keys, p.size()}, dtype);
  return {query, key, value};
}

constexpr Operation kOperations[] = {
    // ---- creation ----
    {"filled",
     [](Program& p) {
       const Shape shape = p.shape();
       p.keep(p.filled(shape, p.dtype()));
     }},
    {"filled, wants a gradient",
     [](Program& p) {
       const Shape shape = p.shape();
       p.keep(p.filled(shape, p.flag() ? float64 : float32).requires_grad_());
     }},
    {"empty", [](Program& p) { p.keep(empty(p.shape(), p.dtype()).zero_()); }},
    {"full", [](Program& p) { p.keep(full(p.shape(), p.number(), p.dtype())); }},
    {"tensor",
     [](Program& p) {
       const double number = p.number();
       p.keep(tensor({{number, 1}, {2, p.number()}}, p.dtype()));
     }},
    {"from_vector",
     [](Program& p) {
       p.keep(from_vector(std::vector<double>(static_cast<std::size_t>(p.below(6)), p.number()),
                          p.shape()));
     }},
    {"arange", [](Program& p) { p.keep(arange(p.number(), p.number(), p.number(), p.dtype())); }},
    {"linspace",
     [](Program& p) { p.keep(linspace(p.number(), p.number(), p.integer(), p.dtype())); }},
    {"eye", [](Program& p) { p.keep(eye(p.integer(), maybe_integer(p), p.dtype())); }},
    {"rand", [](Program& p) { p.keep(rand(p.shape(), p.dtype())); }},
    {"randn", [](Program& p) { p.keep(randn(p.shape(), p.dtype())); }},
    {"uniform", [](Program& p) { p.keep(uniform(p.shape(), p.number(), p.number(), p.dtype())); }},
    {"randint", [](Program& p) { p.keep(randint(p.integer(), p.integer(), p.shape())); }},
    {"randperm", [](Program& p) { p.keep(randperm(p.integer())); }},
    {"bernoulli", [](Program& p) { p.keep(bernoulli(p.shape(), p.number(), p.dtype())); }},

    // ---- elementwise ----
    {"unary",
     [](Program& p) {
       p.keep(kUnary[static_cast<std::size_t>(p.byte()) % std::size(kUnary)](p.floating()));
     }},
    {"unary of any dtype",
     [](Program& p) {
       p.keep(kUnary[static_cast<std::size_t>(p.byte()) % std::size(kUnary)](p.tensor()));
     }},
    {"binary",
     [](Program& p) {
       const Tensor x = p.floating();
       const auto op = kBinary[static_cast<std::size_t>(p.byte()) % std::size(kBinary)];
       p.keep(p.flag() ? op(x, p.partner(x)) : op(p.partner(x), x));
     }},
    {"binary of any dtype",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(kBinary[static_cast<std::size_t>(p.byte()) % std::size(kBinary)](x, p.partner(x)));
     }},
    {"add",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(add(x, p.partner(x), p.number()));
     }},
    {"sub",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(sub(x, p.partner(x), p.number()));
     }},
    {"with a number",
     [](Program& p) {
       const Tensor x = p.tensor();
       const double number = p.number();
       switch (p.below(9)) {
         case 0: return p.keep(x + number);
         case 1: return p.keep(x - number);
         case 2: return p.keep(x * number);
         case 3: return p.keep(x / number);
         case 4: return p.keep(number - x);
         case 5: return p.keep(number / x);
         case 6: return p.keep(pow(x, number));
         case 7: return p.keep(leaky_relu(x, number));
         default: return p.keep(softplus(x, number));
       }
     }},
    {"compare with a number",
     [](Program& p) { p.keep(kCompareNumber[p.below(6)](p.tensor(), p.number())); }},
    {"clamp", [](Program& p) { p.keep(clamp(p.tensor(), maybe_number(p), maybe_number(p))); }},
    {"gelu", [](Program& p) { p.keep(gelu(p.floating(), static_cast<GeluForm>(p.below(2)))); }},
    {"broadcast",
     [](Program& p) {
       const Tensor x = p.tensor();
       const Pair pair = broadcast("fuzz", x, p.partner(x));
       p.keep(pair.x);
       p.keep(pair.other);
     }},
    {"any and all", [](Program& p) { any(p.tensor()) || all(p.tensor()); }},
    {"allclose",
     [](Program& p) {
       const Tensor x = p.tensor();
       allclose(x, p.partner(x), p.number(), p.number(), p.flag());
     }},
    {"masked_fill",
     [](Program& p) {
       const Tensor x = p.tensor();
       const Tensor mask = p.rarely(8) ? p.tensor() : p.filled(p.shape_like(x), boolean);
       p.keep(masked_fill(x, mask, p.number()));
     }},
    {"where",
     [](Program& p) {
       const Tensor x = p.tensor();
       const Tensor condition = p.rarely(8) ? p.tensor() : p.filled(p.shape_like(x), boolean);
       p.keep(where(condition, x, p.partner(x)));
     }},
    {"dropout",
     [](Program& p) { p.keep(dropout(p.floating(), p.flag() ? 0.5 : p.number(), p.flag())); }},
    {"dropout_with_key",
     [](Program& p) { p.keep(dropout_with_key(p.floating(), p.number(), p.byte())); }},

    // ---- reductions ----
    {"sum", [](Program& p) { p.keep(sum(p.tensor(), p.axes(), p.flag())); }},
    {"mean", [](Program& p) { p.keep(mean(p.floating(), p.axes(), p.flag())); }},
    {"prod", [](Program& p) { p.keep(prod(p.tensor(), p.integer(), p.flag())); }},
    {"var", [](Program& p) { p.keep(var(p.floating(), p.axes(), p.number(), p.flag())); }},
    {"std", [](Program& p) { p.keep(gradus::std(p.floating(), p.axes(), p.number(), p.flag())); }},
    {"norm", [](Program& p) { p.keep(norm(p.floating(), p.number(), p.axes(), p.flag())); }},
    {"logsumexp", [](Program& p) { p.keep(logsumexp(p.floating(), p.axes(), p.flag())); }},
    {"cumsum", [](Program& p) { p.keep(cumsum(p.tensor(), p.integer())); }},
    {"amax", [](Program& p) { p.keep(amax(p.tensor(), p.axes(), p.flag())); }},
    {"amin", [](Program& p) { p.keep(amin(p.tensor(), p.axes(), p.flag())); }},
    {"max and min with indices",
     [](Program& p) {
       const Tensor x = p.tensor();
       const MaxResult result =
           p.flag() ? max(x, p.integer(), p.flag()) : min(x, p.integer(), p.flag());
       p.keep(result.values);
       p.keep(result.indices);
     }},
    {"argmax", [](Program& p) { p.keep(argmax(p.tensor(), maybe_integer(p), p.flag())); }},
    {"argmin", [](Program& p) { p.keep(argmin(p.tensor(), maybe_integer(p), p.flag())); }},
    {"topk",
     [](Program& p) {
       const MaxResult result = topk(p.tensor(), p.integer(), p.integer(), p.flag());
       p.keep(result.values);
       p.keep(result.indices);
     }},
    {"softmax", [](Program& p) { p.keep(softmax(p.floating(), p.integer(), when_all_hidden(p))); }},
    {"log_softmax", [](Program& p) { p.keep(log_softmax(p.floating(), p.integer())); }},
    {"softmax_backward",
     [](Program& p) {
       const Tensor x = p.floating();
       p.keep(softmax_backward(x, p.partner(x), p.integer()));
     }},
    {"layer_norm",
     [](Program& p) {
       const Tensor x = p.floating();
       const Shape shape = p.flag() ? Shape{size_at(x, -1)} : p.shape_like(x);
       p.keep(layer_norm(x, shape, p.optional(shape, x.dtype()), p.optional(shape, x.dtype()),
                         p.number()));
     }},
    {"rms_norm",
     [](Program& p) {
       const Tensor x = p.floating();
       const Shape shape = p.flag() ? Shape{size_at(x, -1)} : p.shape_like(x);
       p.keep(rms_norm(x, shape, p.optional(shape, x.dtype()), p.number()));
     }},
    {"what reductions share",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(sum_to(x, p.shape_like(x)));
     }},

    // ---- products ----
    {"matmul",
     [](Program& p) {
       const Tensor x = p.floating();
       Shape shape = x.shape();
       if (!shape.empty()) {
         if (shape.size() == 1) shape.push_back(p.size());
         shape[shape.size() - 2] = size_at(x, -1);
         shape[shape.size() - 1] = p.size();
         if (shape.size() > 2 && p.flag()) shape.erase(0);
       }
       p.keep(matmul(x, p.rarely(8) ? p.tensor() : p.filled(shape, x.dtype())));
     }},
    {"linear",
     [](Program& p) {
       const Tensor x = p.floating();
       const Index out = p.size();
       const Shape weight = p.rarely(8) ? p.shape() : Shape{out, size_at(x, -1)};
       p.keep(linear(x, p.filled(weight, x.dtype()), p.optional({out}, x.dtype())));
     }},
    {"einsum",
     [](Program& p) {
       static constexpr const char* equations[] = {
           "ij,jk->ik", "ij->ji",          "ii->i",      "ii",
           "i,j->ij",   "bij,bjk->bik",    "...i,...i",  "...->",
           "ij,ij->",   "bhqd,bhkd->bhqk", "i...j->...", "ij->"};
       const std::string equation = p.flag() ? equations[p.below(12)] : p.text("iijjkl.,-> A");
       p.keep(einsum(equation, p.several()));
     }},
    {"scaled_dot_product_attention",
     [](Program& p) {
       const auto [query, key, value] = attention_operands(p);
       p.keep(query);
       AttentionOptions options{.mask = p.mask(), .is_causal = p.flag(), .enable_gqa = p.flag()};
       if (p.rarely(4)) options.scale = p.number();
       if (p.rarely(4)) options.dropout_p = p.number();
       if (query.dtype() == float64 && p.flag()) Tensor(query).requires_grad_();
       p.keep(scaled_dot_product_attention(query, key, value, options));
     }},
    {"rotary_embedding",
     [](Program& p) {
       const Tensor x = p.floating();
       p.keep(rotary_embedding(x, p.flag() ? 0 : p.integer(), p.flag() ? 10000.0 : p.number(),
                               pairs(p)));
     }},
    {"rotary_embedding with tables",
     [](Program& p) {
       const Tensor x = p.floating();
       const Shape half = p.rarely(4) ? p.shape() : Shape{size_at(x, -2), size_at(x, -1) / 2};
       p.keep(rotary_embedding(x, p.filled(half, x.dtype()), p.filled(half, x.dtype()), pairs(p)));
     }},

    // ---- indices ----
    {"embedding",
     [](Program& p) {
       const Tensor weight = p.floating();
       const Tensor index = p.rarely(8) ? p.tensor() : p.indices(p.shape(), size_at(weight, 0));
       p.keep(embedding(index, weight, p.integer()));
     }},
    {"gather",
     [](Program& p) {
       const Tensor x = p.tensor();
       const Index axis = p.integer();
       const Tensor index =
           p.rarely(8) ? p.tensor() : p.indices(beside(p, x, axis), size_at(x, axis));
       p.keep(gather(x, axis, index));
     }},
    {"scatter_add",
     [](Program& p) {
       const Tensor x = p.tensor();
       const Index axis = p.integer();
       const Tensor index =
           p.rarely(8) ? p.tensor() : p.indices(beside(p, x, axis), size_at(x, axis));
       p.keep(scatter_add(x, axis, index,
                          p.rarely(8) ? p.tensor() : p.filled(index.shape(), x.dtype())));
     }},
    {"index_select",
     [](Program& p) {
       const Tensor x = p.tensor();
       const Index axis = p.integer();
       p.keep(index_select(x, axis, p.indices({p.size()}, size_at(x, axis))));
     }},
    {"one_hot",
     [](Program& p) {
       const Index classes = p.rarely(4) ? -1 : p.integer();
       p.keep(one_hot(p.rarely(8) ? p.tensor() : p.indices(p.shape(), classes), classes));
     }},
    {"one_hot, counted", [](Program& p) { p.keep(one_hot(p.filled(p.shape(), int64))); }},

    // ---- losses ----
    {"nll_loss",
     [](Program& p) {
       const Tensor x = p.floating();
       NllLossOptions options{.weight = class_weight(p, x), .reduction = reduction(p)};
       if (p.flag()) options.ignore_index = p.integer();
       p.keep(nll_loss(x, targets(p, x), options));
     }},
    {"cross_entropy",
     [](Program& p) {
       const Tensor x = p.floating();
       CrossEntropyOptions options{.weight = class_weight(p, x), .reduction = reduction(p)};
       if (p.flag()) options.ignore_index = p.integer();
       if (p.flag()) options.label_smoothing = p.number();
       p.keep(cross_entropy(x, p.rarely(4) ? p.partner(x) : targets(p, x), options));
     }},
    {"mse_loss",
     [](Program& p) {
       const Tensor x = p.floating();
       p.keep(mse_loss(x, p.partner(x), reduction(p)));
     }},
    {"binary_cross_entropy_with_logits",
     [](Program& p) {
       const Tensor x = p.floating();
       const BinaryCrossEntropyOptions options{
           .weight = p.optional(p.shape_like(x), x.dtype()),
           .reduction = reduction(p),
           .pos_weight = p.optional(p.shape_like(x), x.dtype())};
       p.keep(binary_cross_entropy_with_logits(x, p.partner(x), options));
     }},
    {"kl_div",
     [](Program& p) {
       const Tensor x = p.floating();
       p.keep(kl_div(x, p.partner(x), reduction(p), p.flag()));
     }},

    // ---- views ----
    {"view",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(x.view(p.shape_like(x)));
     }},
    {"reshape",
     [](Program& p) {
       const Tensor x = p.tensor();
       Shape shape = p.flag() ? p.shape_like(x) : p.shape();
       if (p.flag() && !shape.empty()) shape[p.below(shape.size())] = -1;
       p.keep(x.reshape(shape));
     }},
    {"flatten", [](Program& p) { p.keep(p.tensor().flatten(p.integer(), p.integer())); }},
    {"transpose", [](Program& p) { p.keep(p.tensor().transpose(p.integer(), p.integer())); }},
    {"transpose the last axes", [](Program& p) { p.keep(p.tensor().transpose(-2, -1)); }},
    {"permute", [](Program& p) { p.keep(p.tensor().permute(p.axes())); }},
    {"movedim", [](Program& p) { p.keep(movedim(p.tensor(), p.integer(), p.integer())); }},
    {"expand",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(x.expand(p.shape_like(x)));
     }},
    {"squeeze", [](Program& p) { p.keep(p.tensor().squeeze()); }},
    {"squeeze an axis", [](Program& p) { p.keep(p.tensor().squeeze(p.integer())); }},
    {"unsqueeze", [](Program& p) { p.keep(p.tensor().unsqueeze(p.integer())); }},
    {"slice",
     [](Program& p) {
       p.keep(p.tensor().slice(p.integer(), maybe_integer(p), maybe_integer(p),
                               p.flag() ? 1 : p.integer()));
     }},
    {"select", [](Program& p) { p.keep(p.tensor().select(p.integer(), p.integer())); }},
    {"slice_backward",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(slice_backward(x, p.shape_like(x), p.integer(), p.integer(), p.integer()));
     }},
    {"as_strided",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.keep(x.as_strided(p.shape_like(x), p.shape_like(x), p.integer()));
     }},
    {"contiguous", [](Program& p) { p.keep(p.tensor().contiguous()); }},
    {"clone", [](Program& p) { p.keep(p.tensor().clone()); }},
    {"detach", [](Program& p) { p.keep(p.tensor().detach()); }},
    {"to", [](Program& p) { p.keep(p.tensor().to(p.dtype())); }},
    {"cat", [](Program& p) { p.keep(cat(p.several(), p.integer())); }},
    {"stack", [](Program& p) { p.keep(stack(p.several(), p.integer())); }},
    {"split", [](Program& p) { p.keep(split(p.tensor(), p.integer(), p.integer())); }},
    {"split into sizes",
     [](Program& p) {
       std::vector<Index> sizes(static_cast<std::size_t>(p.below(4)));
       for (Index& size : sizes) size = p.rarely(4) ? p.integer() : p.below(4);
       p.keep(split(p.tensor(), sizes, p.integer()));
     }},
    {"chunk", [](Program& p) { p.keep(chunk(p.tensor(), p.integer(), p.integer())); }},
    {"repeat", [](Program& p) { p.keep(repeat(p.tensor(), p.shape())); }},
    {"flip", [](Program& p) { p.keep(flip(p.tensor(), p.axes())); }},
    {"tril", [](Program& p) { p.keep(tril(p.tensor(), p.integer())); }},
    {"triu", [](Program& p) { p.keep(triu(p.tensor(), p.integer())); }},

    // ---- numbers ----
    {"print",
     [](Program& p) {
       std::ostringstream out;
       out << p.tensor();
     }},
    {"item", [](Program& p) { p.tensor().item(); }},
    {"at", [](Program& p) { p.tensor().at(p.axes()); }},
    {"size", [](Program& p) { p.tensor().size(p.integer()); }},
    {"to_vector", [](Program& p) { p.tensor().to_vector<Index>(); }},
    {"data",
     [](Program& p) {
       const Tensor x = p.tensor();
       p.flag() ? void(x.data<float>()) : void(x.data<Index>());
     }},

    // ---- masks ----
    {"hide_where", [](Program& p) { p.keep(AttentionMask::hide_where(p.tensor())); }},
    {"hide_where (q, k)",
     [](Program& p) {
       const Index queries = p.size();
       p.keep(AttentionMask::hide_where(p.filled({queries, p.size()}, boolean)));
     }},
    {"keep_where",
     [](Program& p) { p.keep(AttentionMask::keep_where(p.filled(p.shape(), p.dtype()))); }},
    {"causal",
     [](Program& p) {
       p.keep(AttentionMask::causal(p.integer(), p.integer(), p.flag() ? 0 : p.integer()));
     }},
    {"padding", [](Program& p) { p.keep(AttentionMask::padding(p.filled(p.shape(), p.dtype()))); }},
    {"padding by lengths",
     [](Program& p) {
       std::vector<Index> lengths(static_cast<std::size_t>(p.below(4)));
       for (Index& length : lengths) length = p.integer();
       p.keep(AttentionMask::padding(lengths, p.integer()));
     }},
    {"with_fill", [](Program& p) { p.keep(p.mask().with_fill(p.number())); }},
    {"mask | mask", [](Program& p) { p.keep(p.mask() | p.mask()); }},
    {"hidden_for", [](Program& p) { p.keep(p.mask().hidden_for(p.tensor())); }},
    {"masked_fill with a mask", [](Program& p) { p.keep(masked_fill(p.tensor(), p.mask())); }},
};

}  // namespace

std::span<const Operation> op_operations() { return kOperations; }

}  // namespace gradus::fuzz
