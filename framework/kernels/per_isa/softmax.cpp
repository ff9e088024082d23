// Softmax and its kin along the middle axis of a row-major (outer, size, inner) array.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/vector_math.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// Calls slice(its number, the offset of its first element) for every slice along the axis, in
/// parallel.
template <class Slice>
void for_each_numbered_slice(AxisSplit split, Slice slice) {
  parallel_for(split.outer * split.inner, at_least_one(kChunk / at_least_one(split.size)),
               [&](Index first, Index last) {
                 for (Index n = first; n < last; ++n) {
                   slice(n, n / split.inner * split.size * split.inner + n % split.inner);
                 }
               });
}

template <class Slice>
void for_each_slice(AxisSplit split, Slice slice) {
  for_each_numbered_slice(split, [&](Index, Index start) { slice(start); });
}

template <class T>
T largest(const T* x, Index size, Index step) {
  T best = -std::numeric_limits<T>::infinity();
  for (Index i = 0; i < size; ++i) best = x[i * step] > best ? x[i * step] : best;
  return best;
}

template <class T>
void softmax_slice(T* y, const T* x, Index size, Index step, bool hidden_is_zero) {
  const T top = largest(x, size, step);
  bool all_hidden = top == -std::numeric_limits<T>::infinity();
  if (all_hidden && hidden_is_zero) {
    for (Index i = 0; i < size; ++i) all_hidden = all_hidden && x[i * step] == x[i * step];
    if (all_hidden) {
      for (Index i = 0; i < size; ++i) y[i * step] = 0;
      return;
    }
  }
  for (Index i = 0; i < size; ++i) y[i * step] = vector_math::exp(x[i * step] - top);
  const T scale = static_cast<T>(1 / sum_over<T>(size, [&](Index i) { return y[i * step]; }));
  for (Index i = 0; i < size; ++i) y[i * step] *= scale;
}

void softmax(DType dtype, AxisSplit split, void* out, const void* x, bool hidden_is_zero) {
  for_floating(dtype, [&]<class T>(T*) {
    for_each_slice(split, [&](Index start) {
      T* y = static_cast<T*>(out) + start;
      const T* in = static_cast<const T*>(x) + start;
      if (split.inner == 1) {
        softmax_slice(y, in, split.size, Index{1}, hidden_is_zero);
      } else {
        softmax_slice(y, in, split.size, split.inner, hidden_is_zero);
      }
    });
  });
}

template <class T>
void softmax_backward_slice(T* dx, const T* g, const T* y, Index size, Index step) {
  const T dot =
      static_cast<T>(sum_over<T>(size, [&](Index i) { return g[i * step] * y[i * step]; }));
  for (Index i = 0; i < size; ++i) dx[i * step] = y[i * step] * (g[i * step] - dot);
}

void softmax_backward(DType dtype, AxisSplit split, void* out, const void* g, const void* y) {
  for_floating(dtype, [&]<class T>(T*) {
    for_each_slice(split, [&](Index start) {
      softmax_backward_slice(static_cast<T*>(out) + start, static_cast<const T*>(g) + start,
                             static_cast<const T*>(y) + start, split.size, split.inner);
    });
  });
}

/// log(sum(exp(x - top)))
template <class T>
T log_sum_below(T top, const T* x, Index size, Index step) {
  return vector_math::log(static_cast<T>(
      sum_over<T>(size, [&](Index i) { return vector_math::exp(x[i * step] - top); })));
}

template <class T>
void log_softmax_slice(T* y, const T* x, Index size, Index step) {
  const T top = largest(x, size, step);
  const T log_sum = log_sum_below(top, x, size, step);
  for (Index i = 0; i < size; ++i) y[i * step] = (x[i * step] - top) - log_sum;
}

void log_softmax(DType dtype, AxisSplit split, void* out, const void* x) {
  for_floating(dtype, [&]<class T>(T*) {
    for_each_slice(split, [&](Index start) {
      log_softmax_slice(static_cast<T*>(out) + start, static_cast<const T*>(x) + start, split.size,
                        split.inner);
    });
  });
}

void cross_entropy(DType dtype, AxisSplit split, Index ignored, void* loss, const void* x,
                   const Index* labels) {
  for_floating(dtype, [&]<class T>(T*) {
    for_each_numbered_slice(split, [&](Index n, Index start) {
      const T* scores = static_cast<const T*>(x) + start;
      T& item = static_cast<T*>(loss)[n];
      item = 0;
      if (labels[n] == ignored) return;
      const T top = largest(scores, split.size, split.inner);
      item = log_sum_below(top, scores, split.size, split.inner) -
             (scores[labels[n] * split.inner] - top);
    });
  });
}

void cross_entropy_backward(DType dtype, AxisSplit split, Index ignored, void* dx, const void* g,
                            const void* x, const Index* labels) {
  for_floating(dtype, [&]<class T>(T*) {
    for_each_numbered_slice(split, [&](Index n, Index start) {
      T* out = static_cast<T*>(dx) + start;
      const Index step = split.inner;
      const T gradient = static_cast<const T*>(g)[n];
      const bool counts = labels[n] != ignored;
      if (counts) {
        softmax_slice(out, static_cast<const T*>(x) + start, split.size, step, false);
        out[labels[n] * step] -= 1;
      }
      for (Index i = 0; i < split.size; ++i) out[i * step] = counts ? gradient * out[i * step] : 0;
    });
  });
}

}  // namespace

void fill_softmax(Table& table) {
  table.softmax = softmax;
  table.softmax_backward = softmax_backward;
  table.log_softmax = log_softmax;
  table.cross_entropy = cross_entropy;
  table.cross_entropy_backward = cross_entropy_backward;
}

}  // namespace gradus::kernels::GRADUS_ISA
