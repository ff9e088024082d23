// Shape and Strides: up to eight sizes held inline, so that a view costs no allocation.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iosfwd>
#include <span>

#include "framework/core/dtype.h"

namespace gradus {

inline constexpr int kMaxRank = 8;

/// A short list of integers with inline room for kMaxRank of them.
class IndexList {
 public:
  IndexList() = default;
  IndexList(std::initializer_list<Index> values) : IndexList(std::span<const Index>(values)) {}
  /// Throws ShapeError for more than kMaxRank values.
  explicit IndexList(std::span<const Index> values);
  /// `count` times `value`.
  static IndexList filled(Index count, Index value);

  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Index operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }
  Index& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  const Index* data() const { return values_.data(); }
  const Index* begin() const { return values_.data(); }
  const Index* end() const { return values_.data() + size_; }
  Index* begin() { return values_.data(); }
  Index* end() { return values_.data() + size_; }
  Index back() const { return (*this)[size_ - 1]; }
  bool contains(Index value) const { return std::find(begin(), end(), value) != end(); }

  void push_back(Index value) { insert(size_, value); }
  /// Throws ShapeError when the list is full.
  void insert(Index position, Index value);
  void erase(Index position);

  friend bool operator==(const IndexList& a, const IndexList& b) {
    if (a.size_ != b.size_) return false;
    for (Index i = 0; i < a.size_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  std::array<Index, kMaxRank> values_;
  Index size_ = 0;
};

using Shape = IndexList;    ///< sizes, outermost axis first
using Strides = IndexList;  ///< steps between neighbours along each axis, in elements
using Axes = IndexList;     ///< axis numbers

/// Number of elements; 1 for a shape without axes. Throws ShapeError for a negative size and where
/// the count, or its bytes at eight a piece, would overflow.
Index element_count(const Shape& shape);

/// The index, along each axis, of the element that stands at `position` in row-major order. Throws
/// ValueError where the shape has no such element.
IndexList unravel_index(Index position, const Shape& shape);

/// The strides of a row-major tensor without gaps.
Strides contiguous_strides(const Shape& shape);

/// The error of the function below.
[[noreturn]] void throw_axis_outside(const char* op, Index axis, Index rank);

/// `axis` counted from the front. Negative axes count from the back, as in PyTorch; a shape without
/// axes accepts 0 and -1. Throws ShapeError that leads with `op`.
inline Index checked_axis(const char* op, Index axis, Index rank) {
  const Index axes = std::max<Index>(rank, 1);
  if (axis < -axes || axis >= axes) throw_axis_outside(op, axis, rank);
  return axis < 0 ? axis + axes : axis;
}

/// The shape both operands broadcast to (NumPy's rules). Throws ShapeError that leads with `op`.
Shape broadcast_shape(const char* op, const Shape& x, const Shape& other);
/// The same where only the batch axes, all but the last two, broadcast; the error shows all axes.
Shape broadcast_batch(const char* op, const Shape& x, const Shape& other);

/// Prints "(2, 4, 8)"; "(3,)" for one axis and "()" for none.
std::ostream& operator<<(std::ostream& out, const IndexList& list);

}  // namespace gradus
