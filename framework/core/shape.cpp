#include "framework/core/shape.h"

#include <cstddef>
#include <limits>
#include <ostream>

#include "framework/core/error.h"

namespace gradus {

IndexList::IndexList(std::span<const Index> values) {
  if (values.size() > kMaxRank) {
    throw ShapeError(text("shape: ", values.size(), " axes are more than the ", kMaxRank,
                          " that a tensor can have"));
  }
  std::copy(values.begin(), values.end(), values_.begin());
  size_ = static_cast<Index>(values.size());
}

IndexList IndexList::filled(Index count, Index value) {
  IndexList list;
  for (Index i = 0; i < count; ++i) list.push_back(value);
  return list;
}

void IndexList::insert(Index position, Index value) {
  if (size_ == kMaxRank) {
    throw ShapeError(text("shape: one more axis than the ", kMaxRank, " that a tensor can have"));
  }
  std::copy_backward(begin() + position, end(), end() + 1);
  values_[static_cast<std::size_t>(position)] = value;
  ++size_;
}

void IndexList::erase(Index position) {
  std::copy(begin() + position + 1, end(), begin() + position);
  --size_;
}

namespace {

// Out of the way of the loop below, which every new tensor runs.
[[noreturn]] void throw_negative(Index size, const Shape& shape) {
  throw ShapeError(text("shape: negative size ", size, " in ", shape));
}
[[noreturn]] void throw_too_many(const Shape& shape) {
  throw ShapeError(text("shape: ", shape, " has too many elements"));
}

}  // namespace

Index element_count(const Shape& shape) {
  constexpr Index limit = std::numeric_limits<std::ptrdiff_t>::max() / 8;
  Index count = 1;  // of the shape with every 0 taken as 1, so that strides cannot overflow either
  bool is_empty = false;
  for (const Index size : shape) {
    if (size < 0) throw_negative(size, shape);
    is_empty = is_empty || size == 0;
    if (size > 1 && (__builtin_mul_overflow(count, size, &count) || count > limit)) {
      throw_too_many(shape);
    }
  }
  return is_empty ? 0 : count;
}

IndexList unravel_index(Index position, const Shape& shape) {
  const Index count = element_count(shape);
  if (position < 0 || position >= count) {
    throw ValueError(text("unravel_index: position ", position, " is outside ", shape,
                          ", which has ", count, count == 1 ? " element" : " elements"));
  }
  IndexList index = shape;
  for (Index axis = shape.size() - 1; axis >= 0; --axis) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  Index step = 1;
  for (Index i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<Index>(shape[i], 1);
  }
  return strides;
}

void throw_axis_outside(const char* op, Index axis, Index rank) {
  const Index axes = std::max<Index>(rank, 1);
  throw ShapeError(
      text(op, ": axis ", axis, " is outside ", -axes, "..", axes - 1, " (rank ", rank, ")"));
}

namespace {

/// The sizes broadcast; an error shows the shapes that the caller knows.
Shape broadcast_sizes(const char* op, std::span<const Index> x, std::span<const Index> other,
                      const Shape& shown_x, const Shape& shown_other) {
  const auto& longer = x.size() >= other.size() ? x : other;
  const auto& shorter = x.size() >= other.size() ? other : x;
  Shape result(longer);
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Index a = longer[i + shift];
    const Index b = shorter[i];
    if (a != b && a != 1 && b != 1) {
      const bool swapped = x.size() < other.size();
      throw ShapeError(text(op, ": shapes do not broadcast (", swapped ? b : a, " vs ",
                            swapped ? a : b, " on axis ", i + shift, ")"),
                       {.got = text("x ", shown_x, ", other ", shown_other),
                        .need = "equal sizes on every axis, counted from the last, or a 1"});
    }
    result[static_cast<Index>(i + shift)] = a == 1 ? b : a;
  }
  return result;
}

std::span<const Index> sizes_of(const Shape& shape, Index without_last = 0) {
  return {shape.data(), static_cast<std::size_t>(shape.size() - without_last)};
}

}  // namespace

Shape broadcast_shape(const char* op, const Shape& x, const Shape& other) {
  return broadcast_sizes(op, sizes_of(x), sizes_of(other), x, other);
}

Shape broadcast_batch(const char* op, const Shape& x, const Shape& other) {
  return broadcast_sizes(op, sizes_of(x, 2), sizes_of(other, 2), x, other);
}

std::ostream& operator<<(std::ostream& out, const IndexList& list) {
  out << '(';
  for (Index i = 0; i < list.size(); ++i) out << (i == 0 ? "" : ", ") << list[i];
  return out << (list.size() == 1 ? ",)" : ")");
}

}  // namespace gradus
