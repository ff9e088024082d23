// Products of stacks of matrices, split over the stack and over blocks of rows or columns.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/gemm.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

constexpr Index kBlock = 64;  // rows or columns, about: what is given to threads
constexpr Index kGrain = 16;
constexpr Index kChunkWork = 1'000'000;  // multiplications that are worth waking a thread for

Index batch_offset(const MatmulSizes& sizes, Index position, const Index* strides) {
  Index offset = 0;
  for (Index axis = sizes.batch_rank - 1; axis >= 0; --axis) {
    offset += position % sizes.batch_sizes[axis] * strides[axis];
    position /= sizes.batch_sizes[axis];
  }
  return offset;
}

/// Where block i of `blocks` begins: at a multiple of kGrain, so that the columns at the end of out
/// that fill no vector are the same ones however it is cut.
constexpr Index block_begin(Index size, Index blocks, Index i) {
  return i == blocks ? size : size * i / blocks / kGrain * kGrain;
}

template <class T>
MatrixView<T> matrix_at(const MatmulSizes& sizes, Index position, const Matrices& m) {
  return {static_cast<const T*>(m.data) + batch_offset(sizes, position, m.batch_strides),
          m.row_stride, m.column_stride};
}

/// A part of out: of the product at `position` of the stack, from (row, column) on.
struct Part {
  Index position;
  Index row;
  Index column;
  Index rows;
  Index columns;
};

template <class T>
void multiply_part(const MatmulSizes& sizes, Part part, T* out, const Matrices& a,
                   const Matrices& b, MatmulStart start) {
  out += (part.position * sizes.rows + part.row) * sizes.columns + part.column;
  Start<T> from{};
  if (start.accumulate) from = {out, sizes.columns, 1};
  if (start.bias) from = {static_cast<const T*>(start.bias) + part.column, 0, 1};
  multiply(part.rows, part.columns, sizes.inner, out, sizes.columns,
           part_of(matrix_at<T>(sizes, part.position, a), part.row, 0),
           part_of(matrix_at<T>(sizes, part.position, b), 0, part.column), from);
}

/// A thread is given neighbouring blocks of the longer side of out, and makes one product of those
/// that belong to the same matrix: so the other operand is packed once for all of them.
template <class T>
void matmul_of(const MatmulSizes& sizes, T* out, const Matrices& a, const Matrices& b,
               MatmulStart start) {
  Index batch = 1;
  for (Index axis = 0; axis < sizes.batch_rank; ++axis) batch *= sizes.batch_sizes[axis];
  if (batch * sizes.rows * sizes.columns * sizes.inner <= kChunkWork) {
    for (Index position = 0; position < batch; ++position) {
      multiply_part(sizes, {position, 0, 0, sizes.rows, sizes.columns}, out, a, b, start);
    }
    return;
  }
  const bool by_rows = sizes.rows >= sizes.columns;
  const Index side = by_rows ? sizes.rows : sizes.columns;
  const Index blocks = at_least_one(side / kBlock);
  const Index block_work = at_least_one(sizes.rows * sizes.columns * sizes.inner / blocks);
  const Index chunk = std::max(parts_of(batch * blocks, 2 * Index{num_threads()}),
                               parts_of(kChunkWork, block_work));
  parallel_for(batch * blocks, chunk, [&](Index first, Index last) {
    while (first < last) {
      const Index position = first / blocks;
      const Index end = std::min(last, (position + 1) * blocks);
      const Index begin = block_begin(side, blocks, first - position * blocks);
      const Index length = block_begin(side, blocks, end - position * blocks) - begin;
      const Part part = by_rows ? Part{position, begin, 0, length, sizes.columns}
                                : Part{position, 0, begin, sizes.rows, length};
      multiply_part(sizes, part, out, a, b, start);
      first = end;
    }
  });
}

void matmul(DType dtype, MatmulSizes sizes, void* out, Matrices a, Matrices b, MatmulStart start) {
  for_floating(dtype, [&]<class T>(T*) { matmul_of(sizes, static_cast<T*>(out), a, b, start); });
}

}  // namespace

void fill_matmul(Table& table) { table.matmul = matmul; }

}  // namespace gradus::kernels::GRADUS_ISA
