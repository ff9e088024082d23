// The product of two matrices, single-threaded: what matmul and blocked attention are made of.
//
// The work is done on tiles of `out` that fit the registers, each of its elements summed over
// `inner` from first to last. The right operand is packed in panels as wide as a tile wherever it
// does not lie so by itself, and stays in the second-level cache; the rows of the left one, which
// stay in the first, are read where they are. Where the tiles are cut changes no digit: every
// element is the same sum, in blocks of `inner` that depend on nothing but its size.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/kernels/per_isa/gemm_pack.h"
#include "framework/kernels/per_isa/gemm_tile.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

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
  const bool by_rows = from.column_stride == 1 && !in_place;
  const Index whole = by_rows ? columns / kTileColumns<T> * kTileColumns<T> : 0;
  if (whole > 0) pack_panels(inner, whole, from, packed);
  for (Index j = whole; j < columns; j += kTileColumns<T>) {
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
  const bool reads_well = b.row_stride * Index{sizeof(T)} <= kShortRow;
  const bool in_place = b.column_stride == 1 && (rows < kPackRows || reads_well);
  const bool copies = columns >= kPackLeft<T> && drive_each_other_out(a);
  T* const copy = packed_memory<T>(inner * (kLeftWidth + columns + kTileColumns<T>));
  const Panels<T> panels = panels_of(inner, columns, b, in_place, copy + inner * kLeftWidth);
  const Index most = columns <= kWidth<T> ? kStripRows : kTileRows;
  const Index height = even_part(rows, most);
  for (Index i = 0; i < rows; i += height) {
    const Index here = std::min(rows - i, height);
    MatrixView<T> left = part_of(a, i, 0);
    if (copies) left = packed_left(rows - i, here, inner, left, copy);
    for (Index j = 0; j < columns; j += kTileColumns<T>) {
      Tile<T> tile{out + i * out_stride + j, out_stride,      left.data,      left.row_stride,
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
  const Index depth = even_part(inner, kInnerBlock);
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
