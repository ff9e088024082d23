// A block of attention's scores, some queries of one head by some keys: where its operands lie,
// what of it is hidden, and what dropout leaves of it. What attention and its derivative share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/gemm.h"
#include "framework/kernels/per_isa/philox.h"

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

/// Where no value is NaN or infinite, what is hidden adds exactly 0 and may be left out.
template <class T>
bool leaves_out(const AttentionCall& call, const AttentionOperands& x) {
  return may_leave_out(call) &&
         are_finite<T>(x.value, call.batch, call.shared_heads, call.keys, call.value_width);
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

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
