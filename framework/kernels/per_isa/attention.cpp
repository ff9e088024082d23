// Attention in memory linear in its length: scores exist one block of queries by keys at a time.
//
// Forward, the softmax of a row is taken over blocks of keys as they come, by the largest score and
// the sum of exponentials so far (Milakov, Gimelshein, "Online normalizer calculation for softmax",
// 2018). Only the logarithm of each row's sum is kept. Backward, the weights of a block are
// computed again from it (Dao, Fu, Ermon, Rudra, Re, "FlashAttention", 2022; algorithms 1 and 4).
//
// Threads share out what nobody else writes: forward the blocks of queries, backward the heads of
// keys. Each sum has one order, whoever does it.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/gemm.h"
#include "framework/kernels/per_isa/philox.h"
#include "framework/kernels/per_isa/vector_math.h"
#include "framework/kernels/scratch.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

// ---- where things are ----

constexpr Index kQueryBlock = 64;
constexpr Index kKeyBlock = 128;
constexpr Index kSmallWork = 200'000;  // multiplications that are not worth waking a thread for

/// The scores of some queries of one head for some keys.
struct Block {
  Index batch;
  Index head;
  Index query;  // the first of `rows`
  Index rows;
  Index key = 0;  // the first of `columns`
  Index columns = 0;
};

Index shared_head(const AttentionCall& call, Index head) {
  return head / (call.heads / call.shared_heads);
}

template <class T>
T* row_of(const HeadRows& x, Index batch, Index head, Index row) {
  return static_cast<T*>(x.data) + batch * x.batch_stride + head * x.head_stride +
         row * x.row_stride;
}

template <class T>
MatrixView<T> rows_from(const HeadRows& x, Index batch, Index head, Index row) {
  return {row_of<T>(x, batch, head, row), x.row_stride, 1};
}

template <class T>
T* log_sums_of(const AttentionCall& call, const AttentionOperands& x, const Block& block) {
  return static_cast<T*>(x.log_sums) + (block.batch * call.heads + block.head) * call.queries +
         block.query;
}

/// Calls f(block) for the blocks of keys beside these queries.
template <class F>
void for_each_key_block(const AttentionCall& call, Block block, F f) {
  for (block.key = 0; block.key < call.keys; block.key += kKeyBlock) {
    block.columns = std::min(kKeyBlock, call.keys - block.key);
    f(block);
  }
}

/// Hands out a thread's scratch memory, piece by piece.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : next_(memory) {}
  template <class T>
  T* take(Index count) {
    T* piece = reinterpret_cast<T*>(next_);
    next_ += bytes<T>(count);
    return piece;
  }
  template <class T>
  static Index bytes(Index count) {
    return (count * static_cast<Index>(sizeof(T)) + 63) / 64 * 64;
  }

 private:
  std::byte* next_;
};

// ---- rows ----

template <class T>
void scale_rows(Index rows, Index width, double scale, T* out, Index out_stride, MatrixView<T> x) {
  const T factor = static_cast<T>(scale);
  for (Index row = 0; row < rows; ++row) {
    T* y = out + row * out_stride;
    const T* from = x.data + row * x.row_stride;
    for (Index i = 0; i < width; ++i) y[i] = from[i] * factor;
  }
}

template <class T>
void zero_rows(Index rows, Index width, T* out, Index stride) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < width; ++i) out[row * stride + i] = 0;
  }
}

/// start, at(0), at(1) ... combined by f, in lanes side by side.
template <class T, class At, class F>
T reduced(Index count, T start, At at, F f) {
  constexpr Index kLanes = 16;
  T lanes[kLanes];
  for (T& lane : lanes) lane = start;
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Index n = 0; n < kLanes; ++n) lanes[n] = f(lanes[n], at(i + n));
  }
  for (Index n = 0; i + n < count; ++n) lanes[n] = f(lanes[n], at(i + n));
#pragma GCC unroll 4
  for (Index half = kLanes / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (Index n = 0; n < half; ++n) lanes[n] = f(lanes[n], lanes[n + half]);
  }
  return lanes[0];
}

/// The largest of x and `start`; NaN is passed over.
template <class T>
T largest_of(const T* x, Index count, T start) {
  return reduced(
      count, start, [=](Index i) { return x[i]; }, [](T a, T b) { return b > a ? b : a; });
}

template <class T, class At>
T sum_of(Index count, At at) {
  return reduced(count, T{0}, at, [](T a, T b) { return a + b; });
}

// ---- what is hidden ----

/// How many keys of the block, from its first on, the causal rule leaves to a row.
Index causal_columns(const AttentionCall& call, const Block& block, Index row) {
  const Index visible = block.query + row + call.causal_offset + 1 - block.key;
  return visible < 0 ? 0 : std::min(visible, block.columns);
}

const bool* hidden_row(const AttentionCall& call, const Block& block, Index row) {
  const Index(&strides)[4] = call.hidden_strides;
  return call.hidden + block.batch * strides[0] + block.head * strides[1] +
         (block.query + row) * strides[2] + block.key * strides[3];
}

// Masks whose keys are neighbours have loops of their own, which become vector code.
Index count_hidden(const bool* hidden, Index stride, Index count) {
  int sum = 0;  // of a block, which is small
  if (stride == 1) {
    for (Index i = 0; i < count; ++i) sum += hidden[i];
  } else {
    for (Index i = 0; i < count; ++i) sum += hidden[i * stride];
  }
  return sum;
}

template <class T>
void fill_where(const bool* hidden, Index stride, Index count, T* x, T value) {
  if (stride == 1) {
    for (Index i = 0; i < count; ++i) x[i] = hidden[i] ? value : x[i];
  } else {
    for (Index i = 0; i < count; ++i) x[i] = hidden[i * stride] ? value : x[i];
  }
}

/// Whether the mask alone hides keys of the block, and lies row after row without gaps, so that it
/// can be read as one row: short rows are not worth a loop each.
bool hidden_in_one_stretch(const AttentionCall& call, const Block& block) {
  return call.hidden && call.causal_offset >= call.keys - 1 && call.hidden_strides[3] == 1 &&
         call.hidden_strides[2] == block.columns;
}

enum class Visible { none, some, all };

Visible visible_in(const AttentionCall& call, const Block& block) {
  const Index count = block.rows * block.columns;
  Index hidden = 0;
  if (hidden_in_one_stretch(call, block)) {
    hidden = count_hidden(hidden_row(call, block, 0), 1, count);
  } else {
    for (Index row = 0; row < block.rows; ++row) {
      const Index columns = causal_columns(call, block, row);
      hidden += block.columns - columns;
      if (call.hidden) {
        hidden += count_hidden(hidden_row(call, block, row), call.hidden_strides[3], columns);
      }
    }
  }
  return hidden == 0 ? Visible::all : hidden == count ? Visible::none : Visible::some;
}

/// Writes `value` where keys are hidden.
template <class T>
void fill_hidden(const AttentionCall& call, const Block& block, T* scores, T value) {
  if (hidden_in_one_stretch(call, block)) {
    return fill_where(hidden_row(call, block, 0), 1, block.rows * block.columns, scores, value);
  }
  for (Index row = 0; row < block.rows; ++row) {
    T* x = scores + row * block.columns;
    const Index columns = causal_columns(call, block, row);
    for (Index i = columns; i < block.columns; ++i) x[i] = value;
    if (call.hidden) {
      fill_where(hidden_row(call, block, row), call.hidden_strides[3], columns, x, value);
    }
  }
}

/// Whether any block may be left out for being hidden: where there is more than one.
bool may_leave_out(const AttentionCall& call) {
  const bool hides = call.hidden || call.causal_offset < call.keys - 1;
  return hides && (call.keys > kKeyBlock || call.queries > kQueryBlock);
}

template <class T>
bool is_finite(const T* x, Index count) {
  return sum_of<T>(count, [=](Index i) { return x[i] * T{0}; }) == 0;  // else it is NaN
}

template <class T>
bool are_finite(const HeadRows& x, Index batch, Index heads, Index rows, Index width) {
  bool finite = true;
  parallel_for(batch * heads, at_least_one(kChunk / at_least_one(rows * width)),
               [&](Index first, Index last) {
                 bool own = true;
                 for (Index n = first; n < last && own; ++n) {
                   for (Index row = 0; row < rows && own; ++row) {
                     own = is_finite(row_of<T>(x, n / heads, n % heads, row), width);
                   }
                 }
                 if (!own) __atomic_store_n(&finite, false, __ATOMIC_RELAXED);
               });
  return finite;
}

// ---- dropout ----

/// 0 for each weight that is dropped, and what the others are multiplied by.
template <class T>
void draw_factors(const AttentionCall& call, const Block& block, T* factors) {
  const Dropping dropping(call.dropout_p, call.dropout_key);
  const T scale = static_cast<T>(dropping.scale);
  const bool adjoining = block.columns == call.keys;  // then all rows are one stretch
  const Index stretches = adjoining ? 1 : block.rows;
  const Index length = adjoining ? block.rows * block.columns : block.columns;
  const Index first_row = (block.batch * call.heads + block.head) * call.queries + block.query;
  for (Index n = 0; n < stretches; ++n) {
    T* out = factors + n * length;
    for_each_dropped(dropping, static_cast<std::uint64_t>((first_row + n) * call.keys + block.key),
                     length, [&](Index i, bool dropped) { out[i] = dropped ? T{0} : scale; });
  }
}

/// What is dropped becomes 0, were it NaN.
template <class T>
void drop(Index count, T* x, const T* factors) {
  for (Index i = 0; i < count; ++i) x[i] = factors[i] == 0 ? T{0} : x[i] * factors[i];
}

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

/// Where no value is NaN or infinite, what is hidden adds exactly 0 and may be left out.
template <class T>
bool leaves_out(const AttentionCall& call, const AttentionOperands& x) {
  return may_leave_out(call) &&
         are_finite<T>(x.value, call.batch, call.shared_heads, call.keys, call.value_width);
}

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

// ---- backward ----
// With s = scale q kT, p = exp(s - log_sum) and w = drop(p), so that out = w v:
//   dv = wT g;  dp = drop(g vT);  ds = p (dp - sum(p dp)) = p (dp - sum(g out))
//   dq = scale ds k;  dk = scale dsT q

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

void fill_attention(Table& table) {
  table.attention = attention;
  table.attention_backward = attention_backward;
}

}  // namespace gradus::kernels::GRADUS_ISA
