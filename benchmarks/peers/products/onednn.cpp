// Products by oneDNN, which has none for float64.
#include <omp.h>

#include <stdexcept>

#include <oneapi/dnnl/dnnl.h>

#include "products.h"

namespace products {

const bool multiplies_float64 = false;

template <>
void multiply(const work::Product& p, const float* a, const float* b, float* c) {
  const dnnl_status_t status =
      dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, 1.0F, a,
                 p.a_transposed ? p.m : p.k, b, p.b_transposed ? p.k : p.n, 0.0F, c, p.n);
  if (status != dnnl_success) throw std::runtime_error("dnnl_sgemm failed");
}

template <>
void multiply(const work::Product&, const double*, const double*, double*) {
  throw std::logic_error("oneDNN: no float64");
}

}  // namespace products

namespace work {

std::string description() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

void set_threads(int count) { omp_set_num_threads(count); }

}  // namespace work
