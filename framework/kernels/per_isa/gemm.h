// The product of two matrices, single-threaded: what matmul and blocked attention are made of.
//
// The work is done on tiles of `out` that fit the registers, each of its elements summed over
// `inner` from first to last. The right operand is packed in panels as wide as a tile wherever it
// does not lie so by itself, and stays in the second-level cache; the rows of the left one, which
// stay in the first, are read where they are. Where the tiles are cut changes no digit: every
// element is the same sum, in blocks of `inner` that depend on nothing but its size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "framework/kernels/per_isa/isa.h"
#include "framework/kernels/scratch.h"

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

/// A tile of fewer than kTileColumns columns, in strips of one ever shorter vector.
template <class T, Index Bytes>
void multiply_strips(Index rows, Index columns, Tile<T> tile) {
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
void multiply_panel(Index rows, Index columns, const Tile<T>& tile) {
  if (columns == kTileColumns<T>) {
    multiply_rows<T, kVectorBytes, 2>(rows, tile);
  } else {
    multiply_strips<T, kVectorBytes>(rows, columns, tile);
  }
}

// ---- packing ----

/// Transposes a square of as many vectors as a vector has numbers. Interleaving row i with row i +
/// Width / 2 moves the top bit of the row to the bottom of the column: after log2(Width) rounds
/// they have changed places.
template <class T, Index Bytes, std::size_t... I>
void transpose(typename VectorOf<T, Bytes>::Type (&rows)[sizeof...(I)], std::index_sequence<I...>) {
  constexpr int kRows = sizeof...(I);
#pragma GCC unroll 4
  for (int round = 1; round < kRows; round *= 2) {
    typename VectorOf<T, Bytes>::Type mixed[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows / 2; ++i) {
      const auto& one = rows[i];
      const auto& two = rows[i + kRows / 2];
      mixed[2 * i] = __builtin_shufflevector(one, two, (int{I} / 2 + int{I} % 2 * kRows)...);
      mixed[2 * i + 1] =
          __builtin_shufflevector(one, two, (kRows / 2 + int{I} / 2 + int{I} % 2 * kRows)...);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) rows[i] = mixed[i];
  }
}

/// to[k * width + j] = from(k, j) for a square of one vector's width.
template <class T, Index Bytes>
void pack_square(const T* from, Index column_stride, Index columns, Index width, T* to) {
  constexpr Index kSide = Bytes / Index{sizeof(T)};
  typename VectorOf<T, Bytes>::Type square[kSide] = {};
#pragma GCC unroll 16
  for (Index j = 0; j < kSide; ++j) {
    if (j < columns) std::memcpy(&square[j], from + j * column_stride, Bytes);
  }
  transpose<T, Bytes>(square, std::make_index_sequence<kSide>{});
#pragma GCC unroll 16
  for (Index k = 0; k < kSide; ++k) std::memcpy(to + k * width, &square[k], Bytes);
}

/// Packs squares of columns from number k on, while there are whole ones; returns the k after them.
template <class T, Index Bytes>
Index pack_squares(Index k, Index inner, Index columns, const T* from, Index column_stride,
                   Index width, T* to) {
  constexpr Index kSide = Bytes / Index{sizeof(T)};
  for (; k + kSide <= inner; k += kSide) {
    pack_square<T, Bytes>(from + k, column_stride, columns, width, to + k * width);
  }
  return k;
}

/// pack() where the numbers of a column lie side by side.
template <class T>
void pack_columns(Index inner, Index columns, MatrixView<T> from, Index width, T* to) {
  Index wide = 0;  // numbers of these columns packed in wide squares
  for (Index j = 0; j < width; j += kSmallWidth<T>) {
    const T* column = from.data + j * from.column_stride;
    if (j % kWidth<T> == 0) {
      wide = j + kWidth<T> > columns
                 ? 0
                 : pack_squares<T, kVectorBytes>(0, inner, kWidth<T>, column, from.column_stride,
                                                 width, to + j);
    }
    Index k = pack_squares<T, kSmallBytes>(wide, inner, columns - j, column, from.column_stride,
                                           width, to + j);
    for (; k < inner; ++k) {
      for (Index s = 0; s < kSmallWidth<T>; ++s) {
        to[k * width + j + s] = j + s < columns ? column[s * from.column_stride + k] : T{0};
      }
    }
  }
}

/// pack() where the numbers of a row do, or none.
template <class T>
void pack_rows(Index inner, Index columns, MatrixView<T> from, Index width, T* to) {
  const bool packed = from.column_stride == 1;
  const Index wide = packed ? columns / kWidth<T> * kWidth<T> : 0;
  const Index whole = packed ? columns / kSmallWidth<T> * kSmallWidth<T> : 0;
  for (Index k = 0; k < inner; ++k, to += width) {
    const T* row = from.data + k * from.row_stride;
    for (Index j = 0; j < wide; j += kWidth<T>) std::memcpy(to + j, row + j, kVectorBytes);
    for (Index j = wide; j < whole; j += kSmallWidth<T>) std::memcpy(to + j, row + j, kSmallBytes);
    for (Index j = whole; j < columns; ++j) to[j] = row[j * from.column_stride];
    for (Index j = columns; j < width; ++j) to[j] = 0;
  }
}

/// to[k * width + j] = from(k, j) for k < inner and j < columns, and 0 for the j beyond; width is
/// a whole number of small vectors.
template <class T>
void pack(Index inner, Index columns, MatrixView<T> from, Index width, T* to) {
  if (from.row_stride == 1 && from.column_stride != 1) {
    pack_columns(inner, columns, from, width, to);
  } else {
    pack_rows(inner, columns, from, width, to);
  }
}

template <class T>
T* packed_memory(Index count) {
  return reinterpret_cast<T*>(
      scratch(Scratch::panels, static_cast<std::size_t>(count) * sizeof(T)));
}

// ---- products ----

/// How a block of the right operand is read: panels as wide as a tile, the last one what is left.
template <class T>
struct Panels {
  MatrixView<T> from;
  Index inner;
  Index columns;
  const T* packed;
  bool in_place;  ///< rows lie side by side, and are read where they are

  Index width(Index j) const { return std::min(columns - j, kTileColumns<T>); }
  /// What is not a whole number of small vectors wide is packed in any case, with zeros beside it.
  bool stays(Index j) const { return in_place && width(j) % kSmallWidth<T> == 0; }
  Index step(Index j) const {
    return stays(j) ? from.row_stride : parts_of(width(j), kSmallWidth<T>) * kSmallWidth<T>;
  }
  const T* begin(Index j) const { return stays(j) ? part_of(from, 0, j).data : packed + j * inner; }
};

template <class T>
Panels<T> panels_of(Index inner, Index columns, MatrixView<T> from, bool in_place, T* packed) {
  const Panels<T> panels{from, inner, columns, packed, in_place};
  for (Index j = 0; j < columns; j += kTileColumns<T>) {
    if (panels.stays(j)) continue;
    pack(inner, panels.width(j), part_of(from, 0, j), panels.step(j), packed + j * inner);
  }
  return panels;
}

/// sums[c] = the sum of x[k] * column c [k], for as many columns as a vector has numbers: each
/// summed in a vector of its own, then all vectors transposed and added.
template <class T>
void multiply_dots_strip(Index columns, Index inner, const T* x, MatrixView<T> b, T* sums) {
  Vector<T> parts[kWidth<T>] = {};
  const T* column[kWidth<T>];
  for (Index c = 0; c < kWidth<T>; ++c) column[c] = part_of(b, 0, std::min(c, columns - 1)).data;
  Index k = 0;
  for (; k + kWidth<T> <= inner; k += kWidth<T>) {
    Vector<T> left;
    std::memcpy(&left, x + k, kVectorBytes);
#pragma GCC unroll 16
    for (Index c = 0; c < kWidth<T>; ++c) {
      Vector<T> right;
      std::memcpy(&right, column[c] + k, kVectorBytes);
      parts[c] += left * right;
    }
  }
  transpose<T, kVectorBytes>(parts, std::make_index_sequence<kWidth<T>>{});
  Vector<T> all = {};
#pragma GCC unroll 16
  for (Index c = 0; c < kWidth<T>; ++c) all += parts[c];
  std::memcpy(sums, &all, kVectorBytes);
  for (; k < inner; ++k) {
    for (Index c = 0; c < columns; ++c) sums[c] += x[k] * column[c][k];
  }
}

/// A product of few rows and a right operand of columns that lie side by side, by dot products:
/// packing would cost more than the product. Strides of out and start may be any.
template <class T>
void multiply_dots(Index rows, Index columns, Index inner, T* out, Index out_row, Index out_column,
                   MatrixView<T> a, MatrixView<T> b, MatrixView<T> start) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; j += kWidth<T>) {
      const Index width = std::min(columns - j, kWidth<T>);
      T sums[kWidth<T>];
      multiply_dots_strip(width, inner, part_of(a, i, 0).data, part_of(b, 0, j), sums);
      const MatrixView<T> begin = part_of(start, i, j);
      T* const to = out + i * out_row + j * out_column;
      for (Index c = 0; c < width; ++c) {
        to[c * out_column] = begin.data ? begin.data[c * begin.column_stride] + sums[c] : sums[c];
      }
    }
  }
}

/// The last columns, fewer than the shortest vector has numbers: their transpose is a product of
/// few rows.
template <class T>
void multiply_last_columns(Index rows, Index columns, Index inner, T* out, Index out_stride,
                           MatrixView<T> a, MatrixView<T> b, Start<T> start) {
  MatrixView<T> left = transpose_of(b);
  if (left.column_stride != 1) {
    T* const packed = packed_memory<T>(columns * inner);
    for (Index j = 0; j < columns; ++j) {
      for (Index k = 0; k < inner; ++k) packed[j * inner + k] = *part_of(b, k, j).data;
    }
    left = {packed, inner, 1};
  }
  multiply_dots(columns, rows, inner, out, Index{1}, out_stride, left, transpose_of(a),
                transpose_of(start));
}

/// Whether the columns of a tile's rows lie so that they all fall into one set of the L1 cache.
template <class T>
bool drive_each_other_out(MatrixView<T> a) {
  return a.row_stride == 1 && a.column_stride * Index{sizeof(T)} % kCacheWay == 0;
}

/// A copy of the first `height` of rows that lie in columns. Whole vectors are copied while there
/// are rows, which is quicker.
template <class T>
MatrixView<T> packed_left(Index rows, Index height, Index inner, MatrixView<T> a, T* to) {
  const Index width = parts_of(height, kWidth<T>) * kWidth<T>;
  pack(inner, std::min(rows, width), transpose_of(a), width, to);
  return {to, 1, width};
}

/// A block of out, whose part of b fits the cache: packed once for all tiles, which are of nearly
/// equal height.
template <class T>
void multiply_block(Index rows, Index columns, Index inner, T* out, Index out_stride,
                    MatrixView<T> a, MatrixView<T> b, Start<T> start) {
  const bool by_dots = a.column_stride == 1 && inner >= kDotInner<T>;
  const Index last = by_dots ? columns % kSmallWidth<T> : 0;
  columns -= last;
  if (last > 0) {
    multiply_last_columns(rows, last, inner, out + columns, out_stride, a, part_of(b, 0, columns),
                          part_of(start, 0, columns));
  }
  if (columns == 0) return;
  const bool in_place = b.column_stride == 1 && rows < kPackRows;
  const bool copies = columns >= kPackLeft<T> && drive_each_other_out(a);
  T* const copy = packed_memory<T>(inner * (kLeftWidth + columns + kTileColumns<T>));
  const Panels<T> panels = panels_of(inner, columns, b, in_place, copy + inner * kLeftWidth);
  const Index most = columns <= kWidth<T> ? kStripRows : kTileRows;
  const Index height = parts_of(rows, parts_of(rows, most));
  for (Index i = 0; i < rows; i += height) {
    const Index here = std::min(rows - i, height);
    MatrixView<T> left = part_of(a, i, 0);
    if (copies) left = packed_left(rows - i, here, inner, left, copy);
    for (Index j = 0; j < columns; j += kTileColumns<T>) {
      const Tile<T> tile{out + i * out_stride + j, out_stride,      left.data,      left.row_stride,
                         left.column_stride,       panels.begin(j), panels.step(j), inner,
                         part_of(start, i, j)};
      multiply_panel(here, panels.width(j), tile);
    }
  }
}

/// The general product, in blocks of `inner` and of columns whose panels fit the cache.
template <class T>
void multiply_blocks(Index rows, Index columns, Index inner, T* out, Index out_stride,
                     MatrixView<T> a, MatrixView<T> b, Start<T> start) {
  const Index depth = parts_of(inner, at_least_one(parts_of(inner, kInnerBlock)));
  for (Index k = 0; k == 0 || k < inner; k += depth) {
    const Start<T> from = k == 0 ? start : Start<T>{out, out_stride, 1};
    for (Index j = 0; j < columns; j += kBlockColumns<T>) {
      multiply_block(rows, std::min(columns - j, kBlockColumns<T>), std::min(inner - k, depth),
                     out + j, out_stride, part_of(a, 0, k), part_of(b, k, j), part_of(from, 0, j));
    }
    if (inner == 0) return;
  }
}

/// out = start + a b, for a of (rows, inner), b of (inner, columns) and out of rows that lie
/// out_stride apart, and overlap nothing but the start.
template <class T>
void multiply(Index rows, Index columns, Index inner, T* out, Index out_stride, MatrixView<T> a,
              MatrixView<T> b, Start<T> start) {
  const bool is_column = columns == 1 && out_stride == 1 && rows > 1;
  if (is_column && (!start.data || start.row_stride == 1)) {  // the transpose of a row
    multiply(Index{1}, rows, inner, out, rows, transpose_of(b), transpose_of(a),
             transpose_of(start));
  } else if (rows < kFewRows && a.column_stride == 1 && b.row_stride == 1) {
    multiply_dots(rows, columns, inner, out, out_stride, Index{1}, a, b, start);
  } else if (rows > 0 && columns > 0) {
    multiply_blocks(rows, columns, inner, out, out_stride, a, b, start);
  }
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
