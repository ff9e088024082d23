// Layer normalisation: rows brought to mean 0 and variance 1, and the derivative of that.
#include <cmath>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// (x[i] - mean) / deviation, from differences to the first element: large numbers close together
/// keep their digits, and equal ones become 0.
template <class T>
class Normal {
 public:
  Normal(const T* x, const RowMoments& moments)
      : x_(x),
        first_(x[0]),
        mean_(static_cast<T>(moments.mean_from_first)),
        rstd_(static_cast<T>(moments.rstd)) {}

  T operator[](Index i) const { return ((x_[i] - first_) - mean_) * rstd_; }

 private:
  const T* x_;
  T first_;
  T mean_;
  T rstd_;
};

template <class T>
double mean_from_first(Index size, const T* x) {
  return sum_over<double>(size, [&](Index i) { return double{x[i]} - double{x[0]}; }) /
         static_cast<double>(size);
}

template <class T>
double variance(Index size, const T* x, double mean) {
  const auto square = [&](Index i) {
    const double centred = double{x[i]} - double{x[0]} - mean;
    return centred * centred;
  };
  return sum_over<double>(size, square) / static_cast<double>(size);
}

template <class T>
void write_row(Index size, const Normal<T>& xhat, T* out, const T* weight, const T* bias) {
  if (weight && bias) {
    for (Index i = 0; i < size; ++i) out[i] = xhat[i] * weight[i] + bias[i];
  } else {
    for (Index i = 0; i < size; ++i) {
      out[i] = (weight ? xhat[i] * weight[i] : xhat[i]) + (bias ? bias[i] : T{0});
    }
  }
}

// Sums in double, and each loop does little for a row: while one row's sum, root and quotient take
// their time, the processor works on the next rows.
template <class T>
void layer_norm_rows(Index size, Index count, double eps, RowMoments* moments, T* out, const T* x,
                     const T* weight, const T* bias) {
  for (Index r = 0; r < count; ++r) {
    moments[r].mean_from_first = mean_from_first(size, x + r * size);
  }
  for (Index r = 0; r < count; ++r) {
    moments[r].rstd = variance(size, x + r * size, moments[r].mean_from_first);
  }
  for (Index r = 0; r < count; ++r) moments[r].rstd = 1 / std::sqrt(moments[r].rstd + eps);
  for (Index r = 0; r < count; ++r) {
    write_row(size, Normal<T>(x + r * size, moments[r]), out + r * size, weight, bias);
  }
}

void layer_norm(DType dtype, NormRows rows, double eps, void* out, const void* x,
                const void* weight, const void* bias) {
  for_floating(dtype, [&]<class T>(T*) {
    const Index size = rows.size;
    const Index chunk = at_least_one(kChunk / at_least_one(size));
    parallel_for(rows.count, chunk, [&](Index first, Index last) {
      layer_norm_rows(size, last - first, eps, rows.moments + first,
                      static_cast<T*>(out) + first * size, static_cast<const T*>(x) + first * size,
                      static_cast<const T*>(weight), static_cast<const T*>(bias));
    });
  });
}

/// dx = rstd (h - mean(h) - xhat mean(h xhat)), with h(i) = g[i] weight[i], and xhat in dx before.
template <class T, class H>
void input_gradient(Index size, T rstd, T* dx, H h) {
  const double n = static_cast<double>(size);
  const T mean_h = static_cast<T>(sum_over<T>(size, h) / n);
  const T mean_hx = static_cast<T>(sum_over<T>(size, [&](Index i) { return h(i) * dx[i]; }) / n);
  for (Index i = 0; i < size; ++i) dx[i] = rstd * (h(i) - mean_h - dx[i] * mean_hx);
}

/// The gradients of some rows: dx of each, and the sums dweight and dbias over them.
template <class T>
void layer_norm_backward_rows(NormRows rows, Index first, Index last, T* dx, T* dweight, T* dbias,
                              const T* g, const T* x, const T* weight) {
  const Index size = rows.size;
  for (Index i = 0; dweight && i < size; ++i) dweight[i] = 0;
  for (Index i = 0; dbias && i < size; ++i) dbias[i] = 0;
  for (Index r = first; r < last; ++r) {
    const T* g_row = g + r * size;
    const Normal<T> xhat(x + r * size, rows.moments[r]);
    for (Index i = 0; dweight && i < size; ++i) dweight[i] += g_row[i] * xhat[i];
    for (Index i = 0; dbias && i < size; ++i) dbias[i] += g_row[i];
    if (!dx) continue;
    T* dx_row = dx + r * size;
    const T rstd = static_cast<T>(rows.moments[r].rstd);
    for (Index i = 0; i < size; ++i) dx_row[i] = xhat[i];
    if (weight) {
      input_gradient(size, rstd, dx_row, [&](Index i) { return g_row[i] * weight[i]; });
    } else {
      input_gradient(size, rstd, dx_row, [&](Index i) { return g_row[i]; });
    }
  }
}

void layer_norm_backward(DType dtype, NormRows rows, Index block, void* dx, void* dweight,
                         void* dbias, const void* g, const void* x, const void* weight) {
  for_floating(dtype, [&]<class T>(T*) {
    parallel_for(rows.count, block, [&](Index first, Index last) {
      const Index sums = first / block * rows.size;
      layer_norm_backward_rows(rows, first, last, static_cast<T*>(dx),
                               dweight ? static_cast<T*>(dweight) + sums : nullptr,
                               dbias ? static_cast<T*>(dbias) + sums : nullptr,
                               static_cast<const T*>(g), static_cast<const T*>(x),
                               static_cast<const T*>(weight));
    });
  });
}

}  // namespace

void fill_normalize(Table& table) {
  table.layer_norm = layer_norm;
  table.layer_norm_backward = layer_norm_backward;
}

}  // namespace gradus::kernels::GRADUS_ISA
