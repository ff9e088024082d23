// Packing: an operand's numbers in the order in which tiles read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "framework/kernels/per_isa/gemm_tile.h"
#include "framework/kernels/scratch.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

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

/// pack() of several panels of whole tiles from rows whose numbers lie side by side: read row after
/// row, as memory is fast.
template <class T>
void pack_panels(Index inner, Index columns, MatrixView<T> from, T* to) {
  constexpr Index kPanel = kTileColumns<T>;
  for (Index k = 0; k < inner; ++k) {
    const T* row = from.data + k * from.row_stride;
    for (Index j = 0; j < columns; j += kPanel) {
      std::memcpy(to + j * inner + k * kPanel, row + j, sizeof(T) * kPanel);
    }
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

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
