// Products by OpenBLAS.
#include <cblas.h>

#include "products.h"

namespace products {
namespace {

CBLAS_TRANSPOSE stored(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/// Calls cblas_sgemm or cblas_dgemm.
template <class T, class Gemm>
void call(const Gemm& gemm, const work::Product& p, const T* a, const T* b, T* c) {
  const auto m = static_cast<blasint>(p.m);
  const auto n = static_cast<blasint>(p.n);
  const auto k = static_cast<blasint>(p.k);
  gemm(CblasRowMajor, stored(p.a_transposed), stored(p.b_transposed), m, n, k, T{1}, a,
       p.a_transposed ? m : k, b, p.b_transposed ? k : n, T{0}, c, n);
}

}  // namespace

const bool multiplies_float64 = true;

template <>
void multiply(const work::Product& product, const float* a, const float* b, float* c) {
  call(cblas_sgemm, product, a, b, c);
}

template <>
void multiply(const work::Product& product, const double* a, const double* b, double* c) {
  call(cblas_dgemm, product, a, b, c);
}

}  // namespace products

namespace work {

std::string description() { return openblas_get_config(); }

void set_threads(int count) { openblas_set_num_threads(count); }

}  // namespace work
