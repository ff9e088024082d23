// Products of stacks of matrices, by Eigen, split over the stack and over blocks of rows.
//
// Eigen's templates are compiled here under a name of this build's own, so that the linker cannot
// mix code for different processors.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

#define GRADUS_JOIN_(a, b) a##b
#define GRADUS_JOIN(a, b) GRADUS_JOIN_(a, b)
#define Eigen GRADUS_JOIN(Eigen_, GRADUS_ISA)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace gradus::kernels::GRADUS_ISA {
namespace {

constexpr Index kRowBlock = 64;
constexpr Index kSmallWork = 200'000;  // multiplications that are not worth waking a thread for

template <class T, int Order>
using View = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>,
                        Eigen::Unaligned, Eigen::OuterStride<>>;

/// Calls f with the matrix at `data`, seen row by row or column by column as its strides say.
template <class T, class F>
void with_matrix(const T* data, Index rows, Index columns, const Matrices& m, F f) {
  if (m.column_stride == 1) {
    f(View<T, Eigen::RowMajor>(data, rows, columns, Eigen::OuterStride<>(m.row_stride)));
  } else {
    f(View<T, Eigen::ColMajor>(data, rows, columns, Eigen::OuterStride<>(m.column_stride)));
  }
}

Index batch_offset(const MatmulSizes& sizes, Index position, const Index* strides) {
  Index offset = 0;
  for (Index axis = sizes.batch_rank - 1; axis >= 0; --axis) {
    offset += position % sizes.batch_sizes[axis] * strides[axis];
    position /= sizes.batch_sizes[axis];
  }
  return offset;
}

template <class T>
void multiply_block(const MatmulSizes& sizes, T* out, const Matrices& a, const T* left, Index rows,
                    const Matrices& b, const T* right) {
  using Out = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Out> result(out, rows, sizes.columns);
  with_matrix<T>(left, rows, sizes.inner, a, [&](const auto& l) {
    with_matrix<T>(right, sizes.inner, sizes.columns, b,
                   [&](const auto& r) { result.noalias() = l * r; });
  });
}

template <class T>
void matmul_of(const MatmulSizes& sizes, T* out, const Matrices& a, const Matrices& b) {
  Index batch = 1;
  for (Index axis = 0; axis < sizes.batch_rank; ++axis) batch *= sizes.batch_sizes[axis];
  const Index work = sizes.rows * sizes.columns * sizes.inner;
  const Index block = work < kSmallWork ? sizes.rows : kRowBlock;
  const Index blocks = (sizes.rows + block - 1) / at_least_one(block);
  const Index block_work = at_least_one(block * sizes.columns * sizes.inner);
  parallel_for(batch * blocks, at_least_one(kSmallWork / block_work), [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      const Index row = n % blocks * block;
      const Index rows = sizes.rows - row < block ? sizes.rows - row : block;
      const Index stack = n / blocks;
      const T* left = static_cast<const T*>(a.data) + batch_offset(sizes, stack, a.batch_strides) +
                      row * a.row_stride;
      const T* right = static_cast<const T*>(b.data) + batch_offset(sizes, stack, b.batch_strides);
      multiply_block(sizes, out + (stack * sizes.rows + row) * sizes.columns, a, left, rows, b,
                     right);
    }
  });
}

void matmul(DType dtype, MatmulSizes sizes, void* out, Matrices a, Matrices b) {
  for_floating(dtype, [&]<class T>(T*) { matmul_of(sizes, static_cast<T*>(out), a, b); });
}

}  // namespace

void fill_matmul(Table& table) { table.matmul = matmul; }

}  // namespace gradus::kernels::GRADUS_ISA
