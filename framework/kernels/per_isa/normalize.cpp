// Normalisation of rows to mean 0 and variance 1, and its derivative.
#include <cmath>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

// Two passes with sums in double, of distances from the first element: large numbers close together
// keep their digits, and equal ones become 0.
template <class T>
void normalize_row(Index size, double eps, T* out, T* rstd, const T* x) {
  const double n = static_cast<double>(size);
  const auto from_first = [&](Index i) { return static_cast<double>(x[i]) - double{x[0]}; };
  const double mean = sum_over<double>(size, from_first) / n;
  const auto centred = [&](Index i) { return from_first(i) - mean; };
  const double variance =
      sum_over<double>(size, [&](Index i) { return centred(i) * centred(i); }) / n;
  const double scale = 1 / std::sqrt(variance + eps);
  for (Index i = 0; i < size; ++i) out[i] = static_cast<T>(centred(i) * scale);
  *rstd = static_cast<T>(scale);
}

void normalize(DType dtype, Index rows, Index size, double eps, void* out, void* rstd,
               const void* x) {
  for_floating(dtype, [&]<class T>(T*) {
    parallel_for(rows, at_least_one(kChunk / at_least_one(size)), [&](Index first, Index last) {
      for (Index row = first; row < last; ++row) {
        normalize_row(size, eps, static_cast<T*>(out) + row * size, static_cast<T*>(rstd) + row,
                      static_cast<const T*>(x) + row * size);
      }
    });
  });
}

template <class T>
void normalize_backward_row(Index size, T* dx, const T* g, const T* xhat, T rstd) {
  const double n = static_cast<double>(size);
  const T mean_g = static_cast<T>(sum_over<double>(size, [&](Index i) { return g[i]; }) / n);
  const T mean_gx =
      static_cast<T>(sum_over<double>(size, [&](Index i) { return g[i] * xhat[i]; }) / n);
  for (Index i = 0; i < size; ++i) dx[i] = rstd * (g[i] - mean_g - xhat[i] * mean_gx);
}

void normalize_backward(DType dtype, Index rows, Index size, void* dx, const void* g,
                        const void* xhat, const void* rstd) {
  for_floating(dtype, [&]<class T>(T*) {
    parallel_for(rows, at_least_one(kChunk / at_least_one(size)), [&](Index first, Index last) {
      for (Index row = first; row < last; ++row) {
        normalize_backward_row(
            size, static_cast<T*>(dx) + row * size, static_cast<const T*>(g) + row * size,
            static_cast<const T*>(xhat) + row * size, static_cast<const T*>(rstd)[row]);
      }
    });
  });
}

}  // namespace

void fill_normalize(Table& table) {
  table.normalize = normalize;
  table.normalize_backward = normalize_backward;
}

}  // namespace gradus::kernels::GRADUS_ISA
