// Tensors from numbers. They are off the tape until requires_grad_().
#pragma once

#include <optional>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

Tensor empty(const Shape& shape, DType dtype = float32);  ///< uninitialised
Tensor zeros(const Shape& shape, DType dtype = float32);
Tensor ones(const Shape& shape, DType dtype = float32);
Tensor full(const Shape& shape, double value, DType dtype = float32);
Tensor empty_like(const Tensor& x);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);

/// Nested braces, or one number: tensor({{1, 2}, {3, 4}}), tensor(3.5). Throws ShapeError for
/// ragged braces.
Tensor tensor(const NestedNumbers& numbers, DType dtype = float32);

/// `values` in row-major order, in the dtype that matches T: float, double, std::int64_t or bool.
/// Throws ShapeError unless there are as many as `shape` has elements.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape);
/// The same as one axis.
template <class T>
Tensor from_vector(const std::vector<T>& values) {
  return from_vector(values, Shape{static_cast<Index>(values.size())});
}

/// start, start + step, ... before end. Throws ValueError for a step of 0 or of the wrong sign.
Tensor arange(double start, double end, double step = 1.0, DType dtype = int64);
Tensor arange(double end, DType dtype = int64);

/// `steps` numbers evenly from start to end, both included. Throws ValueError for steps < 0.
Tensor linspace(double start, double end, Index steps, DType dtype = float32);

/// 1 on the main diagonal, 0 elsewhere: (rows, columns), square unless columns are given.
Tensor eye(Index rows, std::optional<Index> columns = std::nullopt, DType dtype = float32);

}  // namespace gradus
