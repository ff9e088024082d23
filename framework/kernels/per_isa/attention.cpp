// Attention in memory linear in its length: scores exist one block of queries by keys at a time.
//
// The softmax of a row is taken over blocks of keys as they come, by the largest score and the sum
// of exponentials so far (Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018).
// Only the logarithm of each row's sum is kept, for the derivative (attention_backward.cpp).
//
// Threads share out blocks of queries. Each sum has one order, whoever does it.
#include "framework/kernels/per_isa/attention_block.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// Attention of one block of queries.
template <class T>
class Forward {
 public:
  Forward(const AttentionCall& call, const AttentionOperands& x, bool leave_out)
      : call_(call), x_(x), leave_out_(leave_out), stride_(score_stride<T>(call)) {}

  void operator()(const Block& queries) const {
    const Work work = in_scratch([&](Pieces& pieces) { return laid_out(queries, pieces); });
    for (Index row = 0; row < queries.rows; ++row) {
      work.tops[row] = -std::numeric_limits<T>::infinity();
      work.sums[row] = 0;
    }
    bool begun = false;
    for_each_key_block(call_, queries, leave_out_, work.seen, [&](const Block& block) {
      if (block.columns == 0) return;
      add_block(block, work, begun);
      begun = true;
    });
    if (!begun) zero_rows(queries.rows, call_.value_width, work.out, x_.out.row_stride);
    finish(queries, work);
  }

 private:
  struct Work {
    T* scores;
    T* factors;  // of dropout
    T* tops;     // the largest score of each row so far
    T* tops_before;
    double* sums;  // of exp(score - top)
    Seen* seen;    // by each row, of the block
    T* out;
  };

  Work laid_out(const Block& queries, Pieces& pieces) const {
    const Index count = queries.rows * stride_;
    return {.scores = pieces.take<T>(count),
            .factors = pieces.take<T>(count + kWidth<T>),
            .tops = pieces.take<T>(queries.rows),
            .tops_before = pieces.take<T>(queries.rows),
            .sums = pieces.take<double>(queries.rows),
            .seen = pieces.take<Seen>(queries.rows),
            .out = row_of<T>(x_.out, queries.batch, queries.head, queries.query)};
  }

  void add_block(const Block& block, const Work& work, bool begun) const {
    const Index shared = shared_head(call_, block.head);
    multiply<T>(block.rows, block.columns, call_.width, work.scores, stride_,
                rows_from<T>(x_.query, block.batch, block.head, block.query),
                transpose_of(rows_from<T>(x_.key, block.batch, shared, block.key)), Start<T>{});
    take_in(block, work, begun);
    if (call_.dropout_p > 0) {
      const Index factor_stride = draw_factors(call_, block, work.factors);
      for (Index row = 0; row < block.rows; ++row) {
        drop(block.columns, work.scores + row * stride_, work.factors + row * factor_stride);
      }
    }
    const Index out_stride = x_.out.row_stride;
    multiply<T>(block.rows, call_.value_width, block.columns, work.out, out_stride,
                {work.scores, stride_, 1}, rows_from<T>(x_.value, block.batch, shared, block.key),
                begun ? Start<T>{work.out, out_stride, 1} : Start<T>{});
  }

  /// Takes one more block of scores in, and leaves exp(score - top) in their place. What came
  /// before is made smaller where the top has risen. Each loop does little for a row, so that the
  /// processor finds the next rows' work while it waits.
  void take_in(const Block& block, const Work& work, bool begun) const {
    constexpr T kHidden = -std::numeric_limits<T>::infinity();
    scale_and_hide(call_, block, work.seen, work.scores, stride_);
    for (Index row = 0; row < block.rows; ++row) {
      work.tops_before[row] = work.tops[row];
      work.tops[row] =
          std::max(work.tops[row], largest_of(work.scores + row * stride_, block.columns));
    }
    if (begun) shrink(block, work);
    for (Index row = 0; row < block.rows; ++row) {
      T* x = work.scores + row * stride_;
      // Where all is hidden so far, exp(-inf - 0) is the 0 that is meant; -inf - -inf would be NaN.
      const T top = work.tops[row] == kHidden ? T{0} : work.tops[row];
      for_vectors<T>(block.columns, [&](int i) { x[i] = vector_math::exp(x[i] - top); });
    }
    for (Index row = 0; row < block.rows; ++row) {
      work.sums[row] += double{sum_of(work.scores + row * stride_, block.columns)};
    }
  }

  void shrink(const Block& block, const Work& work) const {
    for (Index row = 0; row < block.rows; ++row) {
      if (work.sums[row] == 0 || work.tops_before[row] == work.tops[row]) continue;
      const T factor = vector_math::exp(work.tops_before[row] - work.tops[row]);
      work.sums[row] *= double{factor};
      T* out = work.out + row * x_.out.row_stride;
      for (Index i = 0; i < call_.value_width; ++i) out[i] *= factor;
    }
  }

  void finish(const Block& queries, const Work& work) const {
    T* log_sums = log_sums_of<T>(call_, x_, queries);
    T* inverses = work.tops_before;
    for (Index row = 0; row < queries.rows; ++row) {
      const T sum = static_cast<T>(work.sums[row]);
      const T log_sum = work.tops[row] + vector_math::log(sum);
      log_sums[row] = sum == 0 ? T{0} : log_sum;
      inverses[row] = sum == 0 ? T{0} : 1 / sum;
    }
    for (Index row = 0; row < queries.rows; ++row) {
      T* out = work.out + row * x_.out.row_stride;
      for (Index i = 0; i < call_.value_width; ++i) out[i] *= inverses[row];
    }
  }

  const AttentionCall& call_;
  const AttentionOperands& x_;
  bool leave_out_;
  Index stride_;  // of the scores
};

template <class T>
void attention_of(const AttentionCall& call, const AttentionOperands& x) {
  const Forward<T> attend(call, x, leaves_out<T>(call, x));
  const Index height = query_block(call);
  const Index blocks = parts_of(call.queries, height);
  const Index work = std::min(height, call.queries) * call.keys * (call.width + call.value_width);
  parallel_for(call.batch * call.heads * blocks, at_least_one(kSmallWork / at_least_one(work)),
               [&](Index first, Index last) {
                 for (Index n = first; n < last; ++n) {
                   const Index head = n / blocks;
                   const Index query = n % blocks * height;
                   attend({.batch = head / call.heads,
                           .head = head % call.heads,
                           .query = query,
                           .rows = std::min(height, call.queries - query)});
                 }
               });
}

void attention(DType dtype, const AttentionCall& call, AttentionOperands x) {
  for_floating(dtype, [&]<class T>(T*) { attention_of<T>(call, x); });
}

}  // namespace

void fill_attention(Table& table) { table.attention = attention; }

}  // namespace gradus::kernels::GRADUS_ISA
