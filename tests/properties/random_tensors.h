// Random inputs: shapes, axes, numbers, dtypes, and strides such as transposes, slices with steps
// and expand() leave behind. A Random is made of one seed and draws the same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "tests/properties/reference.h"

namespace gradus::testing {

/// How the numbers of an input are drawn, and so how far they stay from where an op has a kink or a
/// pole. Whatever is drawn, int64 inputs hold small whole numbers and bool inputs 0 and 1.
enum class Draw {
  normal,          ///< -2.5 to 2.5
  positive,        ///< 0.5 to 2.5
  away_from_zero,  ///< 0.3 to 2.5, of either sign
  apart,           ///< at least 0.13 apart
  share,           ///< 0.05 to 0.95
  few,             ///< -1, 0, 1 and 2: many are equal
  special,         ///< few, and NaN and the infinities among them
};

/// One input of an op, as the reference and as Gradus see it.
struct Input {
  reference::Array array;
  Tensor tensor;
  /// Where `tensor` is expanded: what it was expanded from. Else the tensor itself.
  Tensor base;

  const Shape& shape() const { return array.shape; }
  Index rank() const { return array.rank(); }
  DType dtype() const { return tensor.dtype(); }
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// A whole number from low to high, both included.
  Index between(Index low, Index high);
  /// Evenly from low to high.
  double uniform(double low, double high);
  bool chance(double probability) { return uniform(0, 1) < probability; }
  template <class T>
  T one_of(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(between(0, static_cast<Index>(items.size()) - 1))];
  }
  std::uint64_t raw() { return engine_(); }

  /// A size of 0, 1 or more; 0 is rare.
  Index size(Index largest = 4);
  /// Of small sizes, some of them 0 or 1, and now and then of one or two long axes.
  Shape shape(Index least_rank = 0, Index largest_rank = 5);
  /// The same without axes of size 0.
  Shape filled_shape(Index least_rank = 0, Index largest_rank = 5);
  /// The numbers 0 to n - 1 in random order.
  std::vector<Index> permutation(Index n);

  /// Shapes that broadcast against each other.
  std::vector<Shape> broadcastable(std::size_t count, Index largest_rank = 5);
  /// A shape that broadcasts to `shape`: sizes of 1, leading axes left out.
  Shape narrowed(const Shape& shape);

  /// An axis, counted from either end; 0 or -1 for rank 0.
  Index axis(Index rank);
  /// Different axes in any order, counted from either end; none for rank 0.
  Axes axes(Index rank);

  DType floating() { return chance(0.75) ? float64 : float32; }
  DType number() { return chance(0.25) ? int64 : floating(); }
  DType any_dtype() { return chance(0.12) ? boolean : number(); }

  Input input(const Shape& shape, DType dtype, Draw draw = Draw::normal);
  /// int64 numbers from 0 to bound - 1.
  Input index(const Shape& shape, Index bound);
  /// The caller's own numbers, never expanded.
  Input holding(const reference::Array& array, DType dtype);

 private:
  double draw(Draw how, DType dtype);
  Input laid_out(const reference::Array& array, DType dtype, bool may_expand);

  std::mt19937_64 engine_;
};

/// "(2, 3) float32, strides (1, 4), offset 2"
std::string layout_of(const Tensor& tensor);

/// The numbers of a tensor, read by its strides.
reference::Array read(const Tensor& tensor);

}  // namespace gradus::testing
