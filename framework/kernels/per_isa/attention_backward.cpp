// The derivative of attention, block by block: the weights of a block are computed again from the
// logarithms that the forward pass kept (Dao, Fu, Ermon, Rudra, Re, "FlashAttention", 2022;
// algorithm 4). Threads share out heads of keys, whose gradients nobody else writes.
//
// With s = scale q kT, p = exp(s - log_sum) and w = drop(p), so that out = w v:
//   dv = wT g;  dp = drop(g vT);  ds = p (dp - sum(p dp)) = p (dp - sum(g out))
//   dq = scale ds k;  dk = scale dsT q
#include "framework/kernels/per_isa/attention_block.h"
#include "framework/kernels/per_isa/vector_math.h"
#include "framework/kernels/scratch.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// The gradients of one block of queries, and what they add to those of the keys and values.
template <class T>
class Backward {
 public:
  Backward(const AttentionCall& call, const AttentionGradients& gradients,
           const AttentionOperands& x, const HeadRows& g, bool leave_out)
      : call_(call), gradients_(gradients), x_(x), g_(g), leave_out_(leave_out) {}

  void operator()(const Block& queries) const {
    const Index scores_size = queries.rows * std::min(kKeyBlock, call_.keys);
    Pieces pieces(scratch(Scratch::attention, scratch_bytes(queries.rows, scores_size)));
    T* scaled = pieces.take<T>(queries.rows * call_.width);
    T* weights = pieces.take<T>(scores_size);
    T* slopes = pieces.take<T>(scores_size);
    T* factors = pieces.take<T>(scores_size);
    T* dots = pieces.take<T>(queries.rows);
    T* dq = row_of<T>(gradients_.query, queries.batch, queries.head, queries.query);
    const Index dq_stride = gradients_.query.row_stride;

    scale_rows(queries.rows, call_.width, call_.scale, scaled, call_.width,
               rows_from<T>(x_.query, queries.batch, queries.head, queries.query));
    write_dots(queries, dots);
    zero_rows(queries.rows, call_.width, dq, dq_stride);
    for_each_key_block(call_, queries, [&](const Block& block) {
      const Visible visible = visible_in(call_, block);
      if (visible == Visible::none && leave_out_) return;
      write_weights(block, visible, scaled, weights);
      write_slopes(block, visible, weights, dots, factors, slopes);
      add_products(block, scaled, weights, slopes, dq);
    });
    scale_rows<T>(queries.rows, call_.width, call_.scale, dq, dq_stride, {dq, dq_stride, 1});
  }

 private:
  std::size_t scratch_bytes(Index rows, Index scores_size) const {
    return static_cast<std::size_t>(Pieces::bytes<T>(rows * call_.width) +
                                    3 * Pieces::bytes<T>(scores_size) + Pieces::bytes<T>(rows));
  }

  /// sum(g out) of each row.
  void write_dots(const Block& queries, T* dots) const {
    for (Index row = 0; row < queries.rows; ++row) {
      const T* g = row_of<T>(g_, queries.batch, queries.head, queries.query + row);
      const T* out = row_of<T>(x_.out, queries.batch, queries.head, queries.query + row);
      dots[row] = sum_of<T>(call_.value_width, [=](Index i) { return g[i] * out[i]; });
    }
  }

  /// p
  void write_weights(const Block& block, Visible visible, const T* scaled, T* weights) const {
    multiply<T>(
        block.rows, block.columns, call_.width, weights, block.columns, {scaled, call_.width, 1},
        transpose_of(rows_from<T>(x_.key, block.batch, shared_head(call_, block.head), block.key)),
        Start<T>{});
    if (visible != Visible::all) {
      fill_hidden(call_, block, weights, -std::numeric_limits<T>::infinity());
    }
    const T* log_sums = log_sums_of<T>(call_, x_, block);
    for (Index row = 0; row < block.rows; ++row) {
      T* p = weights + row * block.columns;
      const T log_sum = log_sums[row];
      for (Index i = 0; i < block.columns; ++i) p[i] = vector_math::exp(p[i] - log_sum);
    }
  }

  /// ds, and w in the place of p
  void write_slopes(const Block& block, Visible visible, T* weights, const T* dots, T* factors,
                    T* slopes) const {
    const Index count = block.rows * block.columns;
    multiply<T>(block.rows, block.columns, call_.value_width, slopes, block.columns,
                rows_from<T>(g_, block.batch, block.head, block.query),
                transpose_of(
                    rows_from<T>(x_.value, block.batch, shared_head(call_, block.head), block.key)),
                Start<T>{});
    if (call_.dropout_p > 0) {
      draw_factors(call_, block, factors);
      drop(count, slopes, factors);
    }
    for (Index row = 0; row < block.rows; ++row) {
      T* ds = slopes + row * block.columns;
      const T* p = weights + row * block.columns;
      const T dot = dots[row];
      for (Index i = 0; i < block.columns; ++i) ds[i] = p[i] * (ds[i] - dot);
    }
    if (visible != Visible::all) fill_hidden(call_, block, slopes, T{0});
    if (call_.dropout_p > 0) drop(count, weights, factors);
  }

  void add_products(const Block& block, const T* scaled, const T* weights, const T* slopes,
                    T* dq) const {
    const Index shared = shared_head(call_, block.head);
    const MatrixView<T> w{weights, block.columns, 1};
    const MatrixView<T> ds{slopes, block.columns, 1};
    T* dv = row_of<T>(gradients_.value, block.batch, shared, block.key);
    T* dk = row_of<T>(gradients_.key, block.batch, shared, block.key);
    const Index dv_stride = gradients_.value.row_stride;
    const Index dk_stride = gradients_.key.row_stride;
    const Index dq_stride = gradients_.query.row_stride;
    multiply<T>(block.columns, call_.value_width, block.rows, dv, dv_stride, transpose_of(w),
                rows_from<T>(g_, block.batch, block.head, block.query), Start<T>{dv, dv_stride, 1});
    multiply<T>(block.columns, call_.width, block.rows, dk, dk_stride, transpose_of(ds),
                {scaled, call_.width, 1}, Start<T>{dk, dk_stride, 1});
    multiply<T>(block.rows, call_.width, block.columns, dq, dq_stride, ds,
                rows_from<T>(x_.key, block.batch, shared, block.key), Start<T>{dq, dq_stride, 1});
  }

  const AttentionCall& call_;
  const AttentionGradients& gradients_;
  const AttentionOperands& x_;
  const HeadRows& g_;
  bool leave_out_;
};

/// As forward, and for all that the gradients are products of.
template <class T>
bool leaves_out(const AttentionCall& call, const AttentionOperands& x, const HeadRows& g) {
  const HeadRows log_sums{x.log_sums, call.heads * call.queries, call.queries, call.queries};
  return leaves_out<T>(call, x) &&
         are_finite<T>(x.query, call.batch, call.heads, call.queries, call.width) &&
         are_finite<T>(x.key, call.batch, call.shared_heads, call.keys, call.width) &&
         are_finite<T>(g, call.batch, call.heads, call.queries, call.value_width) &&
         are_finite<T>(log_sums, call.batch, call.heads, 1, call.queries);
}

template <class T>
void attention_backward_of(const AttentionCall& call, const AttentionGradients& gradients,
                           const AttentionOperands& x, const HeadRows& g) {
  const Backward<T> pull_back(call, gradients, x, g, leaves_out<T>(call, x, g));
  const Index group = call.heads / at_least_one(call.shared_heads);
  const auto head_of_keys = [&](Index batch, Index shared) {
    zero_rows(call.keys, call.width, row_of<T>(gradients.key, batch, shared, 0),
              gradients.key.row_stride);
    zero_rows(call.keys, call.value_width, row_of<T>(gradients.value, batch, shared, 0),
              gradients.value.row_stride);
    for (Index head = shared * group; head < (shared + 1) * group; ++head) {
      for (Index query = 0; query < call.queries; query += kQueryBlock) {
        pull_back({.batch = batch,
                   .head = head,
                   .query = query,
                   .rows = std::min(kQueryBlock, call.queries - query)});
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
