// Attention in memory linear in its length: scores exist one block of queries by keys at a time.
//
// The softmax of a row is taken over blocks of keys as they come, by the largest score and the sum
// of exponentials so far (Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018).
// Only the logarithm of each row's sum is kept, for the derivative (attention_backward.cpp).
//
// Threads share out blocks of queries. Each sum has one order, whoever does it.
#include "framework/kernels/per_isa/attention_block.h"
#include "framework/kernels/per_isa/vector_math.h"
#include "framework/kernels/scratch.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

// ---- the softmax of a row, block by block ----

/// The largest score so far, and the sum of exp(score - largest).
template <class T>
struct Running {
  T top;
  double sum;
};

/// Takes one more block of a row's scores in, and leaves exp(score - top) in their place. What came
/// before, the sum and `row`, is made smaller where the top has risen.
template <class T>
void take_in(Running<T>& so_far, T* scores, Index columns, T* row, Index width) {
  const T top = largest_of(scores, columns, so_far.top);
  // Where all is hidden so far, exp(-inf - 0) is the 0 that is meant; -inf - -inf would be NaN.
  const T shift = top == -std::numeric_limits<T>::infinity() ? T{0} : top;
  for (Index i = 0; i < columns; ++i) scores[i] = vector_math::exp(scores[i] - shift);
  if (so_far.sum != 0 && so_far.top != top) {
    const T shrink = vector_math::exp(so_far.top - shift);
    so_far.sum *= double{shrink};
    for (Index i = 0; i < width; ++i) row[i] *= shrink;
  }
  so_far.sum += double{sum_of<T>(columns, [=](Index i) { return scores[i]; })};
  so_far.top = top;
}

// ---- forward ----

/// Attention of one block of queries.
template <class T>
class Forward {
 public:
  Forward(const AttentionCall& call, const AttentionOperands& x, bool leave_out)
      : call_(call), x_(x), leave_out_(leave_out) {}

  void operator()(const Block& queries) const {
    const Index scores_size = queries.rows * std::min(kKeyBlock, call_.keys);
    Pieces pieces(scratch(Scratch::attention, scratch_bytes(queries.rows, scores_size)));
    T* scaled = pieces.take<T>(queries.rows * call_.width);
    T* scores = pieces.take<T>(scores_size);
    T* factors = pieces.take<T>(scores_size);
    auto* running = pieces.take<Running<T>>(queries.rows);
    T* out = row_of<T>(x_.out, queries.batch, queries.head, queries.query);

    scale_rows(queries.rows, call_.width, call_.scale, scaled, call_.width,
               rows_from<T>(x_.query, queries.batch, queries.head, queries.query));
    zero_rows(queries.rows, call_.value_width, out, x_.out.row_stride);
    for (Index row = 0; row < queries.rows; ++row) {
      running[row] = {.top = -std::numeric_limits<T>::infinity(), .sum = 0};
    }
    for_each_key_block(call_, queries, [&](const Block& block) {
      add_block(block, scaled, scores, factors, running, out);
    });
    finish(queries, running, out);
  }

 private:
  std::size_t scratch_bytes(Index rows, Index scores_size) const {
    return static_cast<std::size_t>(Pieces::bytes<T>(rows * call_.width) +
                                    2 * Pieces::bytes<T>(scores_size) +
                                    Pieces::bytes<Running<T>>(rows));
  }

  void add_block(const Block& block, const T* scaled, T* scores, T* factors, Running<T>* running,
                 T* out) const {
    const Visible visible = visible_in(call_, block);
    if (visible == Visible::none && leave_out_) return;
    const Index shared = shared_head(call_, block.head);
    multiply<T>(block.rows, block.columns, call_.width, scores, block.columns,
                {scaled, call_.width, 1},
                transpose_of(rows_from<T>(x_.key, block.batch, shared, block.key)), Start<T>{});
    if (visible != Visible::all) {
      fill_hidden(call_, block, scores, -std::numeric_limits<T>::infinity());
    }
    for (Index row = 0; row < block.rows; ++row) {
      take_in(running[row], scores + row * block.columns, block.columns,
              out + row * x_.out.row_stride, call_.value_width);
    }
    if (call_.dropout_p > 0) {
      draw_factors(call_, block, factors);
      drop(block.rows * block.columns, scores, factors);
    }
    multiply<T>(block.rows, call_.value_width, block.columns, out, x_.out.row_stride,
                {scores, block.columns, 1}, rows_from<T>(x_.value, block.batch, shared, block.key),
                Start<T>{out, x_.out.row_stride, 1});
  }

  void finish(const Block& queries, const Running<T>* running, T* out) const {
    T* log_sums = log_sums_of<T>(call_, x_, queries);
    for (Index row = 0; row < queries.rows; ++row) {
      const T sum = static_cast<T>(running[row].sum);
      log_sums[row] = sum == 0 ? T{0} : running[row].top + vector_math::log(sum);
      const T inverse = sum == 0 ? T{0} : 1 / sum;
      T* sums = out + row * x_.out.row_stride;
      for (Index i = 0; i < call_.value_width; ++i) sums[i] *= inverse;
    }
  }

  const AttentionCall& call_;
  const AttentionOperands& x_;
  bool leave_out_;
};

template <class T>
void attention_of(const AttentionCall& call, const AttentionOperands& x) {
  const Forward<T> attend(call, x, leaves_out<T>(call, x));
  const Index blocks = parts_of(call.queries, kQueryBlock);
  const Index work =
      std::min(kQueryBlock, call.queries) * call.keys * (call.width + call.value_width);
  parallel_for(call.batch * call.heads * blocks, at_least_one(kSmallWork / at_least_one(work)),
               [&](Index first, Index last) {
                 for (Index n = first; n < last; ++n) {
                   const Index head = n / blocks;
                   const Index query = n % blocks * kQueryBlock;
                   attend({.batch = head / call.heads,
                           .head = head % call.heads,
                           .query = query,
                           .rows = std::min(kQueryBlock, call.queries - query)});
                 }
               });
}

void attention(DType dtype, const AttentionCall& call, AttentionOperands x) {
  for_floating(dtype, [&]<class T>(T*) { attention_of<T>(call, x); });
}

}  // namespace

void fill_attention(Table& table) { table.attention = attention; }

}  // namespace gradus::kernels::GRADUS_ISA
