// One tile of a product, which stays in the registers while it is summed; and how large tiles and
// blocks are.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// Where a matrix lies: element (i, j) is data[i * row_stride + j * column_stride]. Fast where one
/// of the strides is 1.
template <class T>
struct MatrixView {
  const T* data;
  Index row_stride;
  Index column_stride;
};

template <class T>
MatrixView<T> transpose_of(MatrixView<T> m) {
  return {m.data, m.column_stride, m.row_stride};
}

/// The part of a matrix from (row, column) on.
template <class T>
MatrixView<T> part_of(MatrixView<T> m, Index row, Index column) {
  if (m.data) m.data += row * m.row_stride + column * m.column_stride;
  return m;
}

/// What a product is added to: a matrix of columns of stride 1, which may be out itself, or whose
/// rows may have stride 0 (a bias); or zero, where there is no data.
template <class T>
using Start = MatrixView<T>;

// ---- sizes ----

// A tile of kTileRows by two vectors, or of kStripRows by one, leaves registers for a row of the
// right operand and one number of the left.
#if defined(__AVX512F__)
constexpr Index kVectorBytes = 64;
constexpr Index kTileRows = 14;
constexpr Index kStripRows = 16;
#elif defined(__AVX__)
constexpr Index kVectorBytes = 32;
constexpr Index kTileRows = 6;
constexpr Index kStripRows = 12;
#elif defined(__aarch64__)
constexpr Index kVectorBytes = 16;
constexpr Index kTileRows = 14;
constexpr Index kStripRows = 16;
#else
constexpr Index kVectorBytes = 16;
constexpr Index kTileRows = 6;
constexpr Index kStripRows = 12;
#endif
constexpr Index kTileVectors = 2;
constexpr Index kLeftWidth = 16;                  // room for the rows of any tile
constexpr Index kSmallBytes = 16;                 // of the shortest vector
constexpr Index kInnerBlock = 384;                // rows of the right operand packed at a time
constexpr Index kPackedBytes = Index{640} << 10;  // what they may take of the L2 cache
constexpr Index kPackRows = 48;                   // fewer do not repay the packing of rows
constexpr Index kShortRow = 512;                  // bytes; rows so near are read as fast as panels
constexpr Index kFewRows = 4;                     // fewer do not repay that of columns
constexpr Index kCacheWay = 4096;                 // bytes, of the L1 cache of all x86 so far
constexpr Index kPrefetchInner = 64;              // a tile takes long enough to fetch out's part

template <class T>
constexpr Index kWidth = kVectorBytes / Index{sizeof(T)};  // numbers in a vector
template <class T>
constexpr Index kSmallWidth = kSmallBytes / Index{sizeof(T)};
template <class T>
constexpr Index kTileColumns = kTileVectors* kWidth<T>;
template <class T>
constexpr Index kPackLeft = 8 * kTileColumns<T>;  // columns that repay the packing of the left
template <class T>
constexpr Index kDotInner = kWidth<T>;  // shorter sums do not repay dot products
template <class T>
constexpr Index kBlockColumns =  // of the right operand packed at a time
    kPackedBytes / Index{sizeof(T)} / kInnerBlock / kTileColumns<T>* kTileColumns<T>;

template <class T, Index Bytes = kVectorBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(Bytes)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;

constexpr Index parts_of(Index size, Index part) { return (size + part - 1) / part; }

/// The size of each of the fewest parts that are nearly equal and none above `most`.
constexpr Index even_part(Index size, Index most) {
  return size <= most ? size : parts_of(size, parts_of(size, most));
}

// ---- tiles ----

/// One tile of out and the operands' parts that make it: a(i, k) is a[i * a_row + k * a_step], row
/// k of b begins at b[k * b_step].
template <class T>
struct Tile {
  T* out;
  Index out_stride;
  const T* a;
  Index a_row;
  Index a_step;
  const T* b;
  Index b_step;
  Index inner;
  Start<T> start;
};

/// The whole tile stays in registers: Rows rows of Vectors vectors.
template <class T, Index Bytes, Index Rows, Index Vectors>
void multiply_tile(const Tile<T>& tile) {
  using Numbers = typename VectorOf<T, Bytes>::Type;
  constexpr Index kNumbers = Bytes / Index{sizeof(T)};
  Numbers sums[Rows][Vectors] = {};
  const T* a = tile.a;
  const T* b = tile.b;
  const Index a_row = tile.a_row;
  const Index a_step = tile.a_step;
  const Index b_step = tile.b_step;
  if (tile.inner >= kPrefetchInner) {
#pragma GCC unroll 16
    for (Index i = 0; i < Rows; ++i) {
      __builtin_prefetch(tile.out + i * tile.out_stride, 1);
      __builtin_prefetch(tile.out + i * tile.out_stride + Vectors * kNumbers - 1, 1);
    }
  }
  for (Index k = tile.inner; k > 0; --k, a += a_step, b += b_step) {
    Numbers right[Vectors];
#pragma GCC unroll 2
    for (Index v = 0; v < Vectors; ++v) std::memcpy(&right[v], b + v * kNumbers, Bytes);
#pragma GCC unroll 16
    for (Index i = 0; i < Rows; ++i) {
      const T left = a[i * a_row];
#pragma GCC unroll 2
      for (Index v = 0; v < Vectors; ++v) sums[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 16
  for (Index i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (Index v = 0; v < Vectors; ++v) {
      if (tile.start.data) {
        Numbers begin;
        std::memcpy(&begin, tile.start.data + i * tile.start.row_stride + v * kNumbers, Bytes);
        sums[i][v] += begin;
      }
      std::memcpy(tile.out + i * tile.out_stride + v * kNumbers, &sums[i][v], Bytes);
    }
  }
}

/// Calls multiply_tile for a number of rows known only now.
template <class T, Index Bytes, Index Vectors>
void multiply_rows(Index rows, const Tile<T>& tile) {
  using Function = void (*)(const Tile<T>&);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static constexpr Function functions[] = {multiply_tile<T, Bytes, Index{I} + 1, Vectors>...};
    functions[rows - 1](tile);
  }
  (std::make_index_sequence < Vectors == 1 ? kStripRows : kTileRows > {});
}

/// A strip narrower than any vector is made beside out, and its part copied.
template <class T>
void multiply_narrow(Index rows, Index columns, const Tile<T>& tile) {
  T beside[kStripRows * kSmallWidth<T>];
  Tile<T> whole = tile;
  whole.out = beside;
  whole.out_stride = kSmallWidth<T>;
  whole.start = {};
  multiply_rows<T, kSmallBytes, 1>(rows, whole);
  for (Index i = 0; i < rows; ++i) {
    const T* begin = tile.start.data ? tile.start.data + i * tile.start.row_stride : nullptr;
    for (Index j = 0; j < columns; ++j) {
      const T sum = beside[i * kSmallWidth<T> + j];
      tile.out[i * tile.out_stride + j] = begin ? begin[j] + sum : sum;
    }
  }
}

/// A tile of fewer than kTileColumns columns, in strips of one ever shorter vector. Moves on in the
/// tile it is given: to copy what was just written would make the processor wait.
template <class T, Index Bytes>
void multiply_strips(Index rows, Index columns, Tile<T>& tile) {
  constexpr Index kStrip = Bytes / Index{sizeof(T)};
  if (columns >= kStrip) {
    multiply_rows<T, Bytes, 1>(rows, tile);
    tile.out += kStrip;
    tile.b += kStrip;
    if (tile.start.data) tile.start.data += kStrip;
    columns -= kStrip;
  }
  if (columns == 0) return;
  if constexpr (Bytes > kSmallBytes) {
    multiply_strips<T, Bytes / 2>(rows, columns, tile);
  } else {
    multiply_narrow(rows, columns, tile);
  }
}

template <class T>
void multiply_panel(Index rows, Index columns, Tile<T>& tile) {
  if (columns == kTileColumns<T>) {
    multiply_rows<T, kVectorBytes, 2>(rows, tile);
  } else {
    multiply_strips<T, kVectorBytes>(rows, columns, tile);
  }
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
