// A block of attention's scores, some queries of one head by some keys: where its operands lie,
// what of it is hidden, and what dropout leaves of it. What attention and its derivative share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/attention_rows.h"
#include "framework/kernels/per_isa/gemm.h"
#include "framework/kernels/per_isa/philox.h"
#include "framework/kernels/scratch.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

// ---- where things are ----

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
  Index left_out = 0;  // keys after these, hidden from all of the queries
};

/// How many queries a block has: fewer where they are few, as shorter blocks leave more out.
Index query_block(const AttentionCall& call) { return call.queries < 256 ? 32 : 64; }

/// How far the rows of a block's scores lie apart.
template <class T>
Index score_stride(const AttentionCall& call) {
  return padded<T>(std::min(kKeyBlock, call.keys));
}

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

/// Hands out memory piece by piece or, where there is none, counts what the pieces take.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(Index count) {
    std::byte* piece = memory_ ? memory_ + bytes_ : nullptr;
    bytes_ += (count * static_cast<Index>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }

 private:
  std::byte* memory_;
  Index bytes_ = 0;
};

/// What lay_out(pieces) makes of a thread's scratch memory.
template <class LayOut>
auto in_scratch(LayOut lay_out) {
  Pieces counted(nullptr);
  lay_out(counted);
  Pieces pieces(scratch(Scratch::attention, counted.bytes()));
  return lay_out(pieces);
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

/// The first key of a row, from number i on, that is hidden or, if not `wanted`, visible; `count`
/// where there is none.
int find_hidden(const bool* hidden, Index stride, int i, int count, bool wanted) {
  constexpr std::uint64_t kEightHidden = 0x0101010101010101;
  const std::uint64_t unwanted = wanted ? 0 : kEightHidden;
  for (; stride == 1 && i + 8 <= count; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, hidden + i, 8);
    if (eight != unwanted) return i + std::countr_zero(eight ^ unwanted) / 8;
  }
  while (i < count && hidden[i * stride] != wanted) ++i;
  return i;
}

/// What one query sees of a block: the first `count` of its keys, but where the mask hides others
/// than the last, as is rare.
struct Seen {
  int count;
  bool has_gaps;
};

Seen seen_by(const AttentionCall& call, const Block& block, Index row) {
  const int count = static_cast<int>(causal_columns(call, block, row));
  if (!call.hidden) return {count, false};
  const bool* hidden = hidden_row(call, block, row);
  const Index stride = call.hidden_strides[3];
  const int end = find_hidden(hidden, stride, 0, count, true);
  if (find_hidden(hidden, stride, end, count, false) == count) return {end, false};
  return {count, true};
}

/// Writes `value` where a query does not see a key, and beside the row.
template <class T>
void fill_unseen(const AttentionCall& call, const Block& block, Index row, Seen seen, T* x,
                 T value) {
  fill_beyond(x, block.columns, seen.count, value);
  if (!seen.has_gaps) return;
  const bool* hidden = hidden_row(call, block, row);
  const Index stride = call.hidden_strides[3];
  for (Index i = 0; i < seen.count; ++i) x[i] = hidden[i * stride] ? value : x[i];
}

/// Multiplies the scores of a block by the scale, and takes out what is hidden.
template <class T>
void scale_and_hide(const AttentionCall& call, const Block& block, const Seen* seen, T* scores,
                    Index stride) {
  const T scale = static_cast<T>(call.scale);
  for (Index row = 0; row < block.rows; ++row) {
    T* x = scores + row * stride;
    for_vectors<T>(block.columns, [&](int i) { x[i] *= scale; });
    fill_unseen(call, block, row, seen[row], x, -std::numeric_limits<T>::infinity());
  }
}

/// Calls f(block) for the blocks of keys beside these queries, `seen` being filled in for each.
/// What no query sees after the last key that any of them sees may be left out.
template <class F>
void for_each_key_block(const AttentionCall& call, Block block, bool leave_out, Seen* seen, F f) {
  for (block.key = 0; block.key < call.keys; block.key += kKeyBlock) {
    const Index all = std::min(kKeyBlock, call.keys - block.key);
    block.columns = all;
    Index last = 0;
    for (Index row = 0; row < block.rows; ++row) {
      seen[row] = seen_by(call, block, row);
      last = std::max(last, Index{seen[row].count});
    }
    if (leave_out) block.columns = last;
    block.left_out = all - block.columns;
    f(block);
  }
}

/// Whether any block may be left out for being hidden: where there is more than one.
bool may_leave_out(const AttentionCall& call) {
  const bool hides = call.hidden || call.causal_offset < call.keys - 1;
  return hides && (call.keys > kKeyBlock || call.queries > query_block(call));
}

template <class T>
bool are_finite(const HeadRows& x, Index batch, Index heads, Index rows, Index width) {
  bool finite = true;
  parallel_for(batch * heads, at_least_one(kChunk / at_least_one(rows * width)),
               [&](Index first, Index last) {
                 bool own = true;
                 for (Index n = first; n < last && own; ++n) {
                   own =
                       are_finite(rows, width, row_of<T>(x, n / heads, n % heads, 0), x.row_stride);
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

/// 0 for each weight that is dropped, and what the others are multiplied by; rows as long as the
/// block's or, where they are all of the keys', one after the other. Returns from row to row.
template <class T>
Index draw_factors(const AttentionCall& call, const Block& block, T* factors) {
  const Dropping dropping(call.dropout_p, call.dropout_key);
  const T scale = static_cast<T>(dropping.scale);
  const bool adjoining = block.columns == call.keys;
  const Index stretches = adjoining ? 1 : block.rows;
  const Index length = adjoining ? block.rows * block.columns : block.columns;
  const Index first_row = (block.batch * call.heads + block.head) * call.queries + block.query;
  const Index stride = adjoining ? block.columns : padded<T>(block.columns);
  for (Index n = 0; n < stretches; ++n) {
    T* out = factors + n * stride;
    for_each_dropped(dropping, static_cast<std::uint64_t>((first_row + n) * call.keys + block.key),
                     length, [&](Index i, bool dropped) { out[i] = dropped ? T{0} : scale; });
  }
  return stride;
}

/// What is dropped becomes 0, were it NaN.
template <class T>
void drop(Index columns, T* x, const T* factors) {
  for_vectors<T>(columns, [&](int i) {
    const T kept = x[i] * factors[i];
    x[i] = factors[i] == 0 ? T{0} : kept;
  });
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
