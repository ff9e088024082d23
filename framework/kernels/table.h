// The table of kernels: everything that touches numbers, over raw pointers and strides.
//
// The functions are compiled once per instruction set (framework/kernels/per_isa) and one table is
// chosen at start. Kernels know nothing of tensors, tapes or errors: whoever calls them has checked
// shapes and dtypes, and gives results that are row-major without gaps unless said otherwise.
#pragma once

#include <span>

#include "framework/core/dtype.h"

namespace gradus::kernels {

enum class Unary {
  exp,
  log,
  sqrt,
  tanh,
  sigmoid,
  softplus,
  relu,
  erf,
  gelu,
  negate,
  abs,
  sign,
  floor,
  ceil,
  sin,
  cos
};
enum class Binary { add, subtract, multiply, divide, power, maximum, minimum, gelu_backward };
enum class Compare { equal, not_equal, less, less_equal, greater, greater_equal };
enum class Reduce { sum, mean };
enum class Extreme { largest, smallest };

/// What several operands of one elementwise loop have in common: row-major sizes.
struct Loop {
  Index rank;
  const Index* sizes;
};

/// One operand of an elementwise loop: its first element, and a stride per axis in elements (0
/// where it is broadcast).
struct Operand {
  void* data;
  const Index* strides;
};

/// A row-major array seen as (outer, size, inner), the middle axis being worked on.
struct AxisSplit {
  Index outer;
  Index size;
  Index inner;
};

/// The mean of a row, less its first element, and 1 / sqrt(variance + eps).
struct RowMoments {
  double mean_from_first;
  double rstd;
};

/// Rows to normalise, or normalised before.
struct NormRows {
  Index count;
  Index size;
  RowMoments* moments;
};

/// A stack of matrices; strides in elements, one of row and column being 1.
struct Matrices {
  void* data;
  const Index* batch_strides;
  Index row_stride;
  Index column_stride;
};

/// out (rows, columns) = start + a (rows, inner) * b (inner, columns), for every index over the
/// batch.
struct MatmulSizes {
  Index batch_rank;
  const Index* batch_sizes;
  Index rows;
  Index columns;
  Index inner;
};

/// What a product is added to: zero unless said otherwise. One of the two at most.
struct MatmulStart {
  const void* bias = nullptr;  ///< `columns` numbers, added to every row
  bool accumulate = false;     ///< adds to what out holds
};

/// A matrix for every head of every sample, rows of features; strides in elements, that of the
/// features being 1.
struct HeadRows {
  void* data;
  Index batch_stride;
  Index head_stride;
  Index row_stride;
};

/// Attention of `heads` heads of queries to `shared_heads` heads of keys and values, an even number
/// of neighbouring query heads to each.
struct AttentionCall {
  Index batch;
  Index heads;
  Index shared_heads;
  Index queries;
  Index keys;
  Index width;        ///< features of queries and keys
  Index value_width;  ///< features of values
  double scale;
  Index causal_offset;      ///< query i sees keys 0 .. i + this
  const bool* hidden;       ///< true where a key is hidden; null where none is
  Index hidden_strides[4];  ///< by batch, head, query and key
  double dropout_p;         ///< of the weights, numbered as (batch, heads, queries, keys)
  std::uint64_t dropout_key;
};

/// What the forward pass reads, makes and leaves for the backward pass. log_sums is row-major
/// (batch, heads, queries): the logarithm of the sum of exp(score), 0 where a query sees nothing.
struct AttentionOperands {
  HeadRows query;
  HeadRows key;
  HeadRows value;
  HeadRows out;
  void* log_sums;
};

/// Where the backward pass puts its results.
struct AttentionGradients {
  HeadRows query;
  HeadRows key;
  HeadRows value;
};

/// One step of Adam; the bias corrections are already in `rate` and `second_scale`.
struct AdamStep {
  double beta1;
  double beta2;
  double rate;
  double second_scale;
  double eps;
  double gradient_decay;  ///< adds this times p to the gradient
  double shrinkage;       ///< takes this times p off p
};

/// A parameter p to change by its gradient g, with its moments m and v; `largest` is null, or holds
/// the largest v so far.
struct AdamUpdate {
  DType dtype;
  Index count;
  AdamStep step;
  void* p;
  const void* g;
  void* m;
  void* v;
  void* largest;
};

/// One step of gradient descent with momentum.
struct SgdStep {
  double rate;
  double momentum;
  double new_share;  ///< of the gradient in the momentum
  double weight_decay;
  bool nesterov;
};

/// A parameter p to change by its gradient g, with its momentum, or null for none.
struct SgdUpdate {
  DType dtype;
  Index count;
  SgdStep step;
  void* p;
  const void* g;
  void* momentum;
};

struct Floats {
  Index count;
  const float* data;
};

/// Elements of many arrays, one array after the other, that are a thread's share.
inline constexpr Index kShare = 32768;

struct Table {
  const char* isa;

  // ---- elementwise: any strides ----
  void (*unary)(Unary op, DType dtype, Loop loop, Operand out, Operand x);
  void (*binary)(Binary op, DType dtype, Loop loop, Operand out, Operand a, Operand b);
  /// out is bool; dtype is that of a and b.
  void (*compare)(Compare op, DType dtype, Loop loop, Operand out, Operand a, Operand b);
  /// out = condition ? a : b, with a bool condition.
  void (*select)(DType dtype, Loop loop, Operand out, Operand condition, Operand a, Operand b);
  /// Copies, converting from one dtype to another where they differ.
  void (*convert)(DType to, DType from, Loop loop, Operand out, Operand x);
  /// out += alpha * x
  void (*add_scaled)(DType dtype, Loop loop, Operand out, Operand x, double alpha);

  // ---- along one axis: row-major arrays ----
  void (*reduce)(Reduce op, DType dtype, AxisSplit split, void* out, const void* x);
  /// The largest or smallest element along the axis and its first position, where indices are
  /// wanted (not null); NaN wins.
  void (*extreme)(Extreme which, DType dtype, AxisSplit split, void* values, Index* indices,
                  const void* x);
  /// Running sums along the axis, from its start or, reversed, from its end.
  void (*cumsum)(DType dtype, AxisSplit split, void* out, const void* x, bool reversed);
  /// A slice that is -inf throughout becomes NaN, or zeros when `hidden_is_zero`.
  void (*softmax)(DType dtype, AxisSplit split, void* out, const void* x, bool hidden_is_zero);
  /// out = y * (g - sum(g * y)), y being the softmax.
  void (*softmax_backward)(DType dtype, AxisSplit split, void* out, const void* g, const void* y);
  void (*log_softmax)(DType dtype, AxisSplit split, void* out, const void* x);
  /// loss = -log_softmax(x)[label] for every slice, of labels already checked; 0 for the label
  /// `ignored`.
  void (*cross_entropy)(DType dtype, AxisSplit split, Index ignored, void* loss, const void* x,
                        const Index* labels);
  /// dx = g (softmax(x) - 1 at the label) for every slice; 0 for the label `ignored`.
  void (*cross_entropy_backward)(DType dtype, AxisSplit split, Index ignored, void* dx,
                                 const void* g, const void* x, const Index* labels);
  /// out = xhat * weight + bias with xhat = (x - mean) * rstd, per row; sets the rows' moments.
  /// weight and bias may be null.
  void (*layer_norm)(DType dtype, NormRows rows, double eps, void* out, const void* x,
                     const void* weight, const void* bias);
  /// dx, and for each block of `block` rows the sums dweight, of g * xhat, and dbias, of g. Any of
  /// the three may be null.
  void (*layer_norm_backward)(DType dtype, NormRows rows, Index block, void* dx, void* dweight,
                              void* dbias, const void* g, const void* x, const void* weight);

  // ---- by index: row-major arrays, indices already checked ----
  /// out[o, j, i] = x[o, index[o, j, i], i]; split describes x, `picked` the middle axis of out.
  void (*gather)(DType dtype, AxisSplit split, Index picked, void* out, const void* x,
                 const Index* index);
  /// out[o, index[o, j, i], i] += x[o, j, i]; split describes out.
  void (*scatter_add)(DType dtype, AxisSplit split, Index picked, void* out, const void* x,
                      const Index* index);
  /// Rows of `width` elements: out[n] = table[index[n]].
  void (*gather_rows)(DType dtype, Index count, Index width, void* out, const void* table,
                      const Index* index);
  /// out[index[n]] += x[n], except where index[n] == skip.
  void (*scatter_add_rows)(DType dtype, Index count, Index width, void* out, const void* x,
                           const Index* index, Index skip);

  // ---- the rest ----
  void (*matmul)(DType dtype, MatmulSizes sizes, void* out, Matrices a, Matrices b,
                 MatmulStart start);
  /// Writes out and log_sums: out = dropout(softmax(query key^T * scale)) value, hidden keys left
  /// out.
  void (*attention)(DType dtype, const AttentionCall& call, AttentionOperands x);
  /// The gradients from g, that of out.
  void (*attention_backward)(DType dtype, const AttentionCall& call, AttentionGradients gradients,
                             AttentionOperands x, HeadRows g);
  void (*adam)(const AdamUpdate* updates, Index count);
  void (*sgd)(const SgdUpdate* updates, Index count);
  /// The sum of squares of every kShare elements of all arrays, one array after the other.
  void (*sum_squares)(const Floats* arrays, Index count, double* sums);
  /// out = x * keep / (1 - p), where element i is kept as stream `key` of Philox says.
  void (*dropout)(DType dtype, Index count, double p, std::uint64_t key, void* out, const void* x);
};

/// The table chosen at start: the best that this processor runs, or what GRADUS_ISA names
/// ("baseline", "avx2", "avx512"). Throws ValueError for a name that is unknown or cannot run here.
const Table& table();

/// All tables that this processor runs, the best first and the baseline last.
std::span<const Table* const> usable_tables();

}  // namespace gradus::kernels
