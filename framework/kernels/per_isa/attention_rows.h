// Rows of attention's scores, worked on in whole vectors: a row has room beside its scores, up to
// the next whole vector, for numbers that mean nothing.
#pragma once

#include <cstring>
#include <limits>
#include <utility>

#include "framework/kernels/per_isa/gemm_tile.h"
#include "framework/kernels/per_isa/vector_math.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// How far rows lie apart that have `columns` scores each.
template <class T>
constexpr Index padded(Index columns) {
  return parts_of(columns, kWidth<T>) * kWidth<T>;
}

/// Calls f(i) for the scores of a row and those beside them.
template <class T, class F>
[[gnu::always_inline]] inline void for_vectors(Index columns, F f) {
  const int end = static_cast<int>(padded<T>(columns));
  for (int i = 0; i < end; ++i) f(i);
}

template <class T, Index Bytes = kVectorBytes>
typename VectorOf<T, Bytes>::Type load(const T* x) {
  typename VectorOf<T, Bytes>::Type vector;
  std::memcpy(&vector, x, Bytes);
  return vector;
}

/// Writes `value` beside and in place of all scores of a row but the first `count`.
template <class T>
void fill_beyond(T* x, Index columns, Index count, T value) {
  using Place = vector_math::Signed<T>;
  typename VectorOf<Place, kVectorBytes>::Type places;
  for (int lane = 0; lane < kWidth<T>; ++lane) places[lane] = lane;
  for (Index i = count / kWidth<T> * kWidth<T>; i < columns; i += kWidth<T>) {
    const Vector<T> kept =
        places < static_cast<Place>(count - i) ? load(x + i) : Vector<T>{} + value;
    std::memcpy(x + i, &kept, kVectorBytes);
  }
}

/// The numbers of a vector combined by f, half of them with the other half, and so on.
template <class T, Index Bytes, int Half, class F, std::size_t... I>
T combined(typename VectorOf<T, Bytes>::Type v, F f, std::index_sequence<I...> lanes) {
  if constexpr (Half == 0) {
    return v[0];
  } else {
    return combined<T, Bytes, Half / 2>(f(v, __builtin_shufflevector(v, v, (int{I} ^ Half)...)), f,
                                        lanes);
  }
}
template <class T, Index Bytes = kVectorBytes, class F>
T combined(typename VectorOf<T, Bytes>::Type v, F f) {
  constexpr int kNumbers = Bytes / Index{sizeof(T)};
  return combined<T, Bytes, kNumbers / 2>(v, f, std::make_index_sequence<kNumbers>{});
}

/// The largest of a row, padded with numbers that are none larger; NaN is passed over.
template <class T>
T largest_of(const T* x, Index columns) {
  const auto larger = [](Vector<T> a, Vector<T> b) { return b > a ? b : a; };
  Vector<T> largest = Vector<T>{} - std::numeric_limits<T>::infinity();
  for (Index i = 0; i < columns; i += kWidth<T>) largest = larger(largest, load(x + i));
  return combined<T>(largest, larger);
}

/// The sum of a row, padded with zeros.
template <class T>
T sum_of(const T* x, Index columns) {
  Vector<T> sums = {};
  for (Index i = 0; i < columns; i += kWidth<T>) sums += load(x + i);
  return combined<T>(sums, [](auto a, auto b) { return a + b; });
}

/// a b for rows that end where they end.
template <class T>
T dot(Index count, const T* a, const T* b) {
  const auto add = [](auto x, auto y) { return x + y; };
  Vector<T> wide = {};
  typename VectorOf<T, kSmallBytes>::Type narrow = {};
  T single = 0;
  Index i = 0;
  for (; i + kWidth<T> <= count; i += kWidth<T>) wide += load(a + i) * load(b + i);
  for (; i + kSmallWidth<T> <= count; i += kSmallWidth<T>) {
    narrow += load<T, kSmallBytes>(a + i) * load<T, kSmallBytes>(b + i);
  }
  for (; i < count; ++i) single += a[i] * b[i];
  return combined<T>(wide, add) + combined<T, kSmallBytes>(narrow, add) + single;
}

/// Whether no number is infinite or NaN, which times 0 is not 0.
template <class T>
bool are_finite(Index rows, Index width, const T* x, Index stride) {
  Vector<T> zeros = {};
  T zero = 0;
  for (; rows > 0; --rows, x += stride) {
    Index i = 0;
    for (; i + kWidth<T> <= width; i += kWidth<T>) zeros += load(x + i) * T{0};
    for (; i < width; ++i) zero += x[i] * T{0};
  }
  return combined<T>(zeros, [](auto a, auto b) { return a + b; }) + zero == 0;
}

template <class T>
void zero_rows(Index rows, Index width, T* out, Index stride) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < width; ++i) out[row * stride + i] = 0;
  }
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
