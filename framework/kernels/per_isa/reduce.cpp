// Sums, means and maxima along the middle axis of a row-major (outer, size, inner) array.
//
// float32 sums are taken in short float stretches that add up in double, so that a sum of many
// small numbers neither sticks nor drifts. Chunks have fixed boundaries: the digits do not depend
// on the number of threads.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

#include <limits>

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
struct SumOf {
  using Type = double;
};
template <>
struct SumOf<Index> {
  using Type = std::uint64_t;  // wraps around
};

constexpr Index kLanes = 16;
constexpr Index kStretch = 512;

/// Sixteen sums side by side: independent, so that they fill vector registers.
template <class T>
typename SumOf<T>::Type sum_of_stretch(const T* x, Index count) {
  using Lane = std::conditional_t<std::is_same_v<T, Index>, std::uint64_t, T>;
  Lane lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<Lane>(x[i + lane]);
  }
  typename SumOf<T>::Type sum = 0;
  for (Index lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  for (; i < count; ++i) sum += static_cast<typename SumOf<T>::Type>(x[i]);
  return sum;
}

template <class T>
typename SumOf<T>::Type sum_of_row(const T* x, Index count) {
  typename SumOf<T>::Type sum = 0;
  for (Index i = 0; i < count; i += kStretch) {
    sum += sum_of_stretch(x + i, count - i < kStretch ? count - i : kStretch);
  }
  return sum;
}

/// A long row, cut into at most 256 pieces for the threads.
template <class T>
typename SumOf<T>::Type sum_of_long_row(const T* x, Index count) {
  constexpr Index kPieces = 256;
  const Index piece =
      at_least_one(count / kPieces) < kChunk ? kChunk : (count + kPieces - 1) / kPieces;
  if (count <= piece) return sum_of_row(x, count);
  typename SumOf<T>::Type sums[kPieces] = {};
  parallel_for(count, piece, [&](Index begin, Index end) {
    sums[begin / piece] = sum_of_row(x + begin, end - begin);
  });
  typename SumOf<T>::Type sum = 0;
  for (const auto part : sums) sum += part;
  return sum;
}

/// sums[i] = the sum of column i of some rows that lie `stride` apart: four at a time, so that the
/// sums are read and written more seldom.
template <class T, class Sum>
void sum_columns(Index rows, Index width, Index stride, const T* x, Sum* sums) {
  for (Index i = 0; i < width; ++i) sums[i] = 0;
  Index row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * stride) {
    for (Index i = 0; i < width; ++i) {
      sums[i] += (static_cast<Sum>(x[i]) + static_cast<Sum>(x[i + stride])) +
                 (static_cast<Sum>(x[i + 2 * stride]) + static_cast<Sum>(x[i + 3 * stride]));
    }
  }
  for (; row < rows; ++row, x += stride) {
    for (Index i = 0; i < width; ++i) sums[i] += static_cast<Sum>(x[i]);
  }
}

template <class T>
void sum_inner(AxisSplit split, T* out, const T* x, double divisor) {
  constexpr Index kTile = 128;
  const Index tiles = (split.inner + kTile - 1) / kTile;
  const Index work = at_least_one(split.size * (split.inner < kTile ? split.inner : kTile));
  parallel_for(split.outer * tiles, at_least_one(kChunk / work), [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      const Index begin = n % tiles * kTile;
      const Index width = split.inner - begin < kTile ? split.inner - begin : kTile;
      const T* column = x + n / tiles * split.size * split.inner + begin;
      typename SumOf<T>::Type sums[kTile];
      sum_columns(split.size, width, split.inner, column, sums);
      T* o = out + n / tiles * split.inner + begin;
      for (Index i = 0; i < width; ++i) {
        if constexpr (std::is_same_v<T, Index>) {
          o[i] = static_cast<T>(sums[i]);
        } else {
          o[i] = static_cast<T>(sums[i] / divisor);
        }
      }
    }
  });
}

template <class T>
void sum(AxisSplit split, T* out, const T* x, double divisor) {
  if (split.inner != 1) return sum_inner(split, out, x, divisor);
  const auto store = [&](T* place, typename SumOf<T>::Type value) {
    if constexpr (std::is_same_v<T, Index>) {
      *place = static_cast<T>(value);
    } else {
      *place = static_cast<T>(value / divisor);
    }
  };
  if (split.outer == 1) return store(out, sum_of_long_row(x, split.size));
  parallel_for(split.outer, at_least_one(kChunk / at_least_one(split.size)),
               [&](Index first, Index last) {
                 for (Index row = first; row < last; ++row) {
                   store(out + row, sum_of_row(x + row * split.size, split.size));
                 }
               });
}

/// Whether a challenger takes the place of the best so far; NaN beats all numbers.
template <class T, Extreme which>
bool beats(T challenger, T best) {
  const bool further = which == Extreme::largest ? challenger > best : challenger < best;
  return further || (challenger != challenger && best == best);
}

template <Extreme which, class T>
void extreme_of(AxisSplit split, T* values, Index* indices, const T* x) {
  const Index count = split.outer * split.inner;
  parallel_for(
      count, at_least_one(kChunk / at_least_one(split.size)), [&](Index first, Index last) {
        for (Index n = first; n < last; ++n) {
          const T* slice = x + n / split.inner * split.size * split.inner + n % split.inner;
          T best = slice[0];
          Index where = 0;
          for (Index j = 1; j < split.size; ++j) {
            const T challenger = slice[j * split.inner];
            if (beats<T, which>(challenger, best)) {
              best = challenger;
              where = j;
            }
          }
          values[n] = best;
          if (indices) indices[n] = where;
        }
      });
}

void extreme(Extreme which, DType dtype, AxisSplit split, void* values, Index* indices,
             const void* x) {
  for_any(dtype, [&]<class T>(T*) {
    if (which == Extreme::largest) {
      extreme_of<Extreme::largest>(split, static_cast<T*>(values), indices,
                                   static_cast<const T*>(x));
    } else {
      extreme_of<Extreme::smallest>(split, static_cast<T*>(values), indices,
                                    static_cast<const T*>(x));
    }
  });
}

template <class T>
void cumsum_of(AxisSplit split, T* out, const T* x, bool reversed) {
  const Index first = reversed ? split.size - 1 : 0;
  const Index step = reversed ? -split.inner : split.inner;
  for (Index n = 0; n < split.outer * split.inner; ++n) {
    const Index start =
        n / split.inner * split.size * split.inner + n % split.inner + first * split.inner;
    typename SumOf<T>::Type sum = 0;
    for (Index j = 0; j < split.size; ++j) {
      sum += static_cast<typename SumOf<T>::Type>(x[start + j * step]);
      out[start + j * step] = static_cast<T>(sum);
    }
  }
}

void cumsum(DType dtype, AxisSplit split, void* out, const void* x, bool reversed) {
  if (dtype == DType::int64) {
    return cumsum_of(split, static_cast<Index*>(out), static_cast<const Index*>(x), reversed);
  }
  for_floating(dtype, [&]<class T>(T*) {
    cumsum_of(split, static_cast<T*>(out), static_cast<const T*>(x), reversed);
  });
}

void reduce(Reduce op, DType dtype, AxisSplit split, void* out, const void* x) {
  const double divisor = op == Reduce::mean ? static_cast<double>(split.size) : 1.0;
  if (dtype == DType::int64) {
    return sum(split, static_cast<Index*>(out), static_cast<const Index*>(x), divisor);
  }
  for_floating(dtype, [&]<class T>(T*) {
    sum(split, static_cast<T*>(out), static_cast<const T*>(x), divisor);
  });
}

}  // namespace

void fill_reduce(Table& table) {
  table.reduce = reduce;
  table.extreme = extreme;
  table.cumsum = cumsum;
}

}  // namespace gradus::kernels::GRADUS_ISA
