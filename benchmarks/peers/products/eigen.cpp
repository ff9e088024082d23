// Products by Eigen, built for the processor it is built on.
#include <Eigen/Core>

#include "products.h"

namespace products {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls `use` with a matrix of rows and columns, or with one stored transposed, as such.
template <class T, class Use>
void with_operand(const T* data, work::Index rows, work::Index columns, bool transposed,
                  const Use& use) {
  if (transposed) {
    use(Eigen::Map<const Matrix<T>>(data, columns, rows).transpose());
  } else {
    use(Eigen::Map<const Matrix<T>>(data, rows, columns));
  }
}

}  // namespace

const bool multiplies_float64 = true;

template <class T>
void multiply(const work::Product& p, const T* a, const T* b, T* c) {
  Eigen::Map<Matrix<T>> result(c, p.m, p.n);
  with_operand(a, p.m, p.k, p.a_transposed, [&](const auto& left) {
    with_operand(b, p.k, p.n, p.b_transposed,
                 [&](const auto& right) { result.noalias() = left * right; });
  });
}

template void multiply(const work::Product&, const float*, const float*, float*);
template void multiply(const work::Product&, const double*, const double*, double*);

}  // namespace products

namespace work {

std::string description() {
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
         std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) + ", " +
         Eigen::SimdInstructionSetsInUse();
}

void set_threads(int count) { Eigen::setNbThreads(count); }

}  // namespace work
