// Eigen: a tensor seen as an Eigen matrix, for those who want more linear algebra than Gradus has.
// Opt-in: nothing else in Gradus mentions Eigen in a public header. The maps are unaligned, so no
// flag of the including program matters.
#pragma once

#include <Eigen/Core>

#include "framework/core/error.h"
#include "framework/core/tensor.h"

namespace gradus {

template <class T>
using EigenMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using EigenStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

namespace detail {

inline EigenStride matrix_strides(const Tensor& x) {
  if (x.dim() != 2) {
    throw ShapeError(text("as_matrix: needs two axes, x has ", x.dim()),
                     {.got = text("x ", x.shape()), .hint = "x.view(...) or x.select(0, i) first"});
  }
  return {x.strides()[0], x.strides()[1]};
}

}  // namespace detail

/// The memory of a (rows, columns) tensor of element type T, to read. It must outlive the map.
/// Throws ShapeError and DTypeError.
template <class T>
Eigen::Map<const EigenMatrix<T>, Eigen::Unaligned, EigenStride> as_matrix(const Tensor& x) {
  const EigenStride strides = detail::matrix_strides(x);
  return {x.data<T>(), x.size(0), x.size(1), strides};
}

/// The same to write; noted as a change in place, once, when it is called.
template <class T>
Eigen::Map<EigenMatrix<T>, Eigen::Unaligned, EigenStride> as_mutable_matrix(Tensor& x) {
  const EigenStride strides = detail::matrix_strides(x);
  return {x.mutable_data<T>(), x.size(0), x.size(1), strides};
}

}  // namespace gradus
