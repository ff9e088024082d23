// Tensors of random numbers. Each op draws what PyTorch's CPU op of the same name draws after the
// same manual_seed, element after element in row-major order. All draw from `generator`, or, where
// it is null, from the default generator, which is locked for the length of one call.
#pragma once

#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace gradus {

/// Evenly from [0, 1). Throws DTypeError unless dtype is float32 or float64, ShapeError for a
/// negative size.
Tensor rand(const Shape& shape, DType dtype = float32, Generator* generator = nullptr);

/// Normal with mean 0 and deviation 1; float32 to 3e-7 of PyTorch's, float64 equal (see
/// Generator::fill_normal). Throws DTypeError and ShapeError as rand() does.
Tensor randn(const Shape& shape, DType dtype = float32, Generator* generator = nullptr);

/// Evenly from [low, high), as Tensor.uniform_ in PyTorch: u * (high - low) + low in the tensor's
/// type. Throws ValueError unless low <= high and dtype can hold low, high and their difference;
/// DTypeError and ShapeError as rand() does.
Tensor uniform(const Shape& shape, double low, double high, DType dtype = float32,
               Generator* generator = nullptr);

/// Whole numbers low .. high - 1, as int64. Throws ValueError unless low < high, ShapeError for a
/// negative size.
Tensor randint(Index low, Index high, const Shape& shape, Generator* generator = nullptr);

/// The numbers 0 .. n-1 in random order: shape (n,), int64. Throws ShapeError for a negative n.
Tensor randperm(Index n, Generator* generator = nullptr);

/// 1 (or true) with probability p, else 0 (or false); any dtype. Throws ValueError unless
/// 0 <= p <= 1, ShapeError for a negative size.
Tensor bernoulli(const Shape& shape, double p, DType dtype = float32,
                 Generator* generator = nullptr);

}  // namespace gradus
