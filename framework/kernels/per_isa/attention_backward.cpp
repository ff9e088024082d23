// The derivative of attention, block by block: the weights of a block are computed again from the
// logarithms that the forward pass kept (Dao, Fu, Ermon, Rudra, Re, "FlashAttention", 2022;
// algorithm 4). Threads share out heads of keys, whose gradients nobody else writes.
//
// With s = scale q kT, p = exp(s - log_sum) and w = drop(p), so that out = w v:
//   dv = wT g;  dp = drop(g vT);  ds = p (dp - sum(p dp)) = p (dp - sum(g out))
//   dq = scale ds k;  dk = scale dsT q
#include "framework/kernels/per_isa/attention_block.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// The gradients of one block of queries, and what they add to those of the keys and values.
template <class T>
class Backward {
 public:
  Backward(const AttentionCall& call, const AttentionGradients& gradients,
           const AttentionOperands& x, const HeadRows& g)
      : call_(call), gradients_(gradients), x_(x), g_(g), stride_(score_stride<T>(call)) {}

  /// The first queries of a head of keys write where the others add.
  void operator()(const Block& queries, bool first, bool leave_out) const {
    const Work work = in_scratch([&](Pieces& pieces) { return laid_out(queries.rows, pieces); });
    if (call_.keys > kKeyBlock) sum_by_output(queries, work);
    bool begun = false;
    for_each_key_block(call_, queries, leave_out, work.seen, [&](const Block& block) {
      if (first) zero_left_out(block);
      if (block.columns == 0) return;
      write_weights_and_slopes(block, work);
      add_products(block, work, begun, first);
      begun = true;
    });
    if (!begun) {
      zero_rows(queries.rows, call_.width,
                row_of<T>(gradients_.query, queries.batch, queries.head, queries.query),
                gradients_.query.row_stride);
    }
  }

 private:
  struct Work {
    T* weights;
    T* slopes;   // ds, times the scale
    T* factors;  // of dropout
    T* dots;     // sum(p dp) of each row
    Seen* seen;  // by each row, of the block
  };

  Work laid_out(Index rows, Pieces& pieces) const {
    const Index count = rows * stride_;
    return {.weights = pieces.take<T>(count),
            .slopes = pieces.take<T>(count),
            .factors = pieces.take<T>(count + kWidth<T>),
            .dots = pieces.take<T>(rows),
            .seen = pieces.take<Seen>(rows)};
  }

  /// No gradient of what the first queries leave out, so far.
  void zero_left_out(const Block& block) const {
    const Index shared = shared_head(call_, block.head);
    const Index key = block.key + block.columns;
    zero_rows(block.left_out, call_.width, row_of<T>(gradients_.key, block.batch, shared, key),
              gradients_.key.row_stride);
    zero_rows(block.left_out, call_.value_width,
              row_of<T>(gradients_.value, block.batch, shared, key), gradients_.value.row_stride);
  }

  /// The sums of p dp where no block has a whole row.
  void sum_by_output(const Block& queries, const Work& work) const {
    for (Index row = 0; row < queries.rows; ++row) {
      work.dots[row] =
          dot(call_.value_width, row_of<T>(g_, queries.batch, queries.head, queries.query + row),
              row_of<T>(x_.out, queries.batch, queries.head, queries.query + row));
    }
  }

  /// w and ds
  void write_weights_and_slopes(const Block& block, const Work& work) const {
    const Index shared = shared_head(call_, block.head);
    multiply<T>(block.rows, block.columns, call_.width, work.weights, stride_,
                rows_from<T>(x_.query, block.batch, block.head, block.query),
                transpose_of(rows_from<T>(x_.key, block.batch, shared, block.key)), Start<T>{});
    multiply<T>(block.rows, block.columns, call_.value_width, work.slopes, stride_,
                rows_from<T>(g_, block.batch, block.head, block.query),
                transpose_of(rows_from<T>(x_.value, block.batch, shared, block.key)), Start<T>{});
    write_weights(block, work);
    if (call_.dropout_p == 0) return write_slopes(block, work);
    const Index factor_stride = draw_factors(call_, block, work.factors);
    drop_rows(block, work.slopes, work.factors, factor_stride);
    write_slopes(block, work);
    drop_rows(block, work.weights, work.factors, factor_stride);
  }

  /// From scores, p.
  void write_weights(const Block& block, const Work& work) const {
    scale_and_hide(call_, block, work.seen, work.weights, stride_);
    const T* log_sums = log_sums_of<T>(call_, x_, block);
    for (Index row = 0; row < block.rows; ++row) {
      T* p = work.weights + row * stride_;
      const T log_sum = log_sums[row];
      for_vectors<T>(block.columns, [&](int i) { p[i] = vector_math::exp(p[i] - log_sum); });
    }
  }

  /// From p and dp, the scale times ds.
  void write_slopes(const Block& block, const Work& work) const {
    const T scale = static_cast<T>(call_.scale);
    for (Index row = 0; row < block.rows && call_.keys <= kKeyBlock; ++row) {
      const Index place = row * stride_;
      work.dots[row] = dot(block.columns, work.weights + place, work.slopes + place);
    }
    for (Index row = 0; row < block.rows; ++row) {
      T* ds = work.slopes + row * stride_;
      const T* p = work.weights + row * stride_;
      const T dot = work.dots[row];
      for_vectors<T>(block.columns, [&](int i) { ds[i] = scale * p[i] * (ds[i] - dot); });
      fill_unseen(call_, block, row, work.seen[row], ds, T{0});
    }
  }

  void drop_rows(const Block& block, T* x, const T* factors, Index factor_stride) const {
    for (Index row = 0; row < block.rows; ++row) {
      drop(block.columns, x + row * stride_, factors + row * factor_stride);
    }
  }

  void add_products(const Block& block, const Work& work, bool dq_begun, bool first) const {
    const Index shared = shared_head(call_, block.head);
    const MatrixView<T> w{work.weights, stride_, 1};
    const MatrixView<T> ds{work.slopes, stride_, 1};
    T* dq = row_of<T>(gradients_.query, block.batch, block.head, block.query);
    T* dk = row_of<T>(gradients_.key, block.batch, shared, block.key);
    T* dv = row_of<T>(gradients_.value, block.batch, shared, block.key);
    const auto begin = [](bool begun, T* sums, Index stride) {
      return begun ? Start<T>{sums, stride, 1} : Start<T>{};
    };
    const Index dq_stride = gradients_.query.row_stride;
    const Index dk_stride = gradients_.key.row_stride;
    const Index dv_stride = gradients_.value.row_stride;
    multiply<T>(block.columns, call_.value_width, block.rows, dv, dv_stride, transpose_of(w),
                rows_from<T>(g_, block.batch, block.head, block.query),
                begin(!first, dv, dv_stride));
    multiply<T>(block.columns, call_.width, block.rows, dk, dk_stride, transpose_of(ds),
                rows_from<T>(x_.query, block.batch, block.head, block.query),
                begin(!first, dk, dk_stride));
    multiply<T>(block.rows, call_.width, block.columns, dq, dq_stride, ds,
                rows_from<T>(x_.key, block.batch, shared, block.key),
                begin(dq_begun, dq, dq_stride));
  }

  const AttentionCall& call_;
  const AttentionGradients& gradients_;
  const AttentionOperands& x_;
  const HeadRows& g_;
  Index stride_;  // of the scores
};

/// As forward, for one head of keys, and for all that its gradients are products of.
template <class T>
bool leaves_out(const AttentionCall& call, const AttentionOperands& x, const HeadRows& g,
                Index batch, Index shared) {
  if (!may_leave_out(call)) return false;
  const auto finite = [&](const HeadRows& rows, Index head, Index count, Index width) {
    return are_finite(count, width, row_of<T>(rows, batch, head, 0), rows.row_stride);
  };
  const HeadRows log_sums{x.log_sums, call.heads * call.queries, call.queries, call.queries};
  const Index group = call.heads / call.shared_heads;
  bool all = finite(x.value, shared, call.keys, call.value_width) &&
             finite(x.key, shared, call.keys, call.width);
  for (Index head = shared * group; head < (shared + 1) * group && all; ++head) {
    all = finite(x.query, head, call.queries, call.width) &&
          finite(g, head, call.queries, call.value_width) &&
          finite(log_sums, head, 1, call.queries);
  }
  return all;
}

template <class T>
void attention_backward_of(const AttentionCall& call, const AttentionGradients& gradients,
                           const AttentionOperands& x, const HeadRows& g) {
  const Backward<T> pull_back(call, gradients, x, g);
  const Index height = query_block(call);
  const Index group = call.heads / at_least_one(call.shared_heads);
  const auto head_of_keys = [&](Index batch, Index shared) {
    if (group * call.queries == 0) {
      zero_rows(call.keys, call.width, row_of<T>(gradients.key, batch, shared, 0),
                gradients.key.row_stride);
      zero_rows(call.keys, call.value_width, row_of<T>(gradients.value, batch, shared, 0),
                gradients.value.row_stride);
    }
    const bool leave_out = leaves_out<T>(call, x, g, batch, shared);
    for (Index head = shared * group; head < (shared + 1) * group; ++head) {
      for (Index query = 0; query < call.queries; query += height) {
        pull_back({.batch = batch,
                   .head = head,
                   .query = query,
                   .rows = std::min(height, call.queries - query)},
                  head == shared * group && query == 0, leave_out);
      }
    }
  };
  const Index work = group * call.queries * call.keys * (call.width + call.value_width) * 5 / 2;
  parallel_for(call.batch * call.shared_heads, at_least_one(kSmallWork / at_least_one(work)),
               [&](Index first, Index last) {
                 for (Index n = first; n < last; ++n) {
                   head_of_keys(n / call.shared_heads, n % call.shared_heads);
                 }
               });
}

void attention_backward(DType dtype, const AttentionCall& call, AttentionGradients gradients,
                        AttentionOperands x, HeadRows g) {
  for_floating(dtype, [&]<class T>(T*) { attention_backward_of<T>(call, gradients, x, g); });
}

}  // namespace

void fill_attention_backward(Table& table) { table.attention_backward = attention_backward; }

}  // namespace gradus::kernels::GRADUS_ISA
