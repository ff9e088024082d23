// Drawing inputs. Memory is written element by element, and views are made by their strides alone,
// so that a fault of Gradus' own views cannot hide in the inputs.
#include "tests/properties/random_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "framework/core/error.h"

namespace gradus::testing {
namespace {

using reference::Array;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Index count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

Index position(const Shape& place, const Strides& strides, Index offset) {
  for (Index axis = 0; axis < place.size(); ++axis) offset += place[axis] * strides[axis];
  return offset;
}

template <class T>
void write_as(Tensor& memory, const std::vector<double>& numbers) {
  T* data = memory.mutable_data<T>();
  for (std::size_t i = 0; i < numbers.size(); ++i) data[i] = static_cast<T>(numbers[i]);
}

Tensor memory_of(const std::vector<double>& numbers, DType dtype) {
  Tensor memory(Shape{static_cast<Index>(numbers.size())}, dtype);
  switch (dtype) {
    case DType::float32: write_as<float>(memory, numbers); break;
    case DType::float64: write_as<double>(memory, numbers); break;
    case DType::int64: write_as<Index>(memory, numbers); break;
    case DType::boolean: write_as<bool>(memory, numbers); break;
  }
  return memory;
}

/// What lies between the elements of an input: nothing that an op could take for one of them.
double filler(DType dtype) {
  return dtype == boolean ? 1.0 : dtype == int64 ? 123456789.0 : kNotANumber;
}

template <class T>
Array read_as(const Tensor& tensor) {
  const T* data = tensor.data<T>();
  return reference::make(tensor.shape(), [&](const Shape& place) {
    return static_cast<double>(data[position(place, tensor.strides(), 0)]);
  });
}

}  // namespace

Index Random::between(Index low, Index high) {
  const auto choices = static_cast<std::uint64_t>(high - low + 1);
  return low + static_cast<Index>(engine_() % choices);
}

double Random::uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
}

Index Random::size(Index largest) {
  if (chance(0.04)) return 0;
  return chance(0.2) ? 1 : between(1, largest);
}

Shape Random::shape(Index least_rank, Index largest_rank) {
  constexpr Index kMostElements = 48;
  const Index rank = between(least_rank, largest_rank);
  Shape shape;
  for (Index i = 0; i < rank; ++i) shape.push_back(size());
  if (rank > 0 && rank < 3 && chance(0.15)) shape[between(0, rank - 1)] = between(5, 37);
  for (Index i = 0; count(shape) > kMostElements && i < rank; ++i)
    shape[i] = std::min<Index>(shape[i], 2);
  return shape;
}

Shape Random::filled_shape(Index least_rank, Index largest_rank) {
  Shape shape = this->shape(least_rank, largest_rank);
  for (Index& size : shape) size = std::max<Index>(size, 1);
  return shape;
}

std::vector<Index> Random::permutation(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(between(0, i))]);
  return order;
}

Shape Random::narrowed(const Shape& shape) {
  Shape result = shape;
  for (Index& size : result) size = chance(0.25) ? 1 : size;
  while (!result.empty() && chance(0.15)) result.erase(0);
  return result;
}

std::vector<Shape> Random::broadcastable(std::size_t number, Index largest_rank) {
  const Shape full = shape(0, largest_rank);
  if (chance(0.25)) return std::vector<Shape>(number, full);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < number; ++i) shapes.push_back(narrowed(full));
  return shapes;
}

Index Random::axis(Index rank) {
  const Index last = std::max<Index>(rank, 1) - 1;
  return between(-last - 1, last);
}

Axes Random::axes(Index rank) {
  Axes axes;
  for (const Index axis : permutation(rank)) {
    if (chance(0.5)) axes.push_back(chance(0.5) ? axis : axis - rank);
  }
  return axes;
}

double Random::draw(Draw how, DType dtype) {
  if (dtype == boolean) return static_cast<double>(between(0, 1));
  if (dtype == int64) return static_cast<double>(between(-5, 5));
  switch (how) {
    case Draw::normal: return uniform(-2.5, 2.5);
    case Draw::positive: return uniform(0.5, 2.5);
    case Draw::away_from_zero: return (chance(0.5) ? 1 : -1) * uniform(0.3, 2.5);
    case Draw::share: return uniform(0.05, 0.95);
    case Draw::apart: return 0.0;  // drawn together, by input()
    case Draw::special:
      if (chance(0.2)) return one_of<double>({kNotANumber, kInfinity, -kInfinity});
      return static_cast<double>(between(-1, 2));
    case Draw::few: return static_cast<double>(between(-1, 2));
  }
  return 0.0;
}

Input Random::input(const Shape& shape, DType dtype, Draw how) {
  Array array = reference::make(shape, [&](const Shape&) { return draw(how, dtype); });
  if (how == Draw::apart && is_floating(dtype)) {
    const std::vector<Index> order = permutation(count(shape));
    for (std::size_t i = 0; i < order.size(); ++i)
      array.values[i] =
          0.13 * (static_cast<double>(order[i]) - 0.5 * static_cast<double>(order.size())) + 0.05;
  }
  return laid_out(array, dtype, true);
}

Input Random::index(const Shape& shape, Index bound) {
  const auto draw = [&](const Shape&) { return static_cast<double>(between(0, bound - 1)); };
  return laid_out(reference::make(shape, draw), int64, true);
}

Input Random::holding(const Array& array, DType dtype) { return laid_out(array, dtype, false); }

// The axes in any order in memory, with steps and gaps between their elements, behind an offset;
// an expanded axis has stride 0, and its first element stands for all.
Input Random::laid_out(const Array& array, DType dtype, bool may_expand) {
  const Index rank = array.rank();
  const bool strided = chance(0.75);
  const bool permuted = strided && chance(0.6);
  const bool stepped = strided && chance(0.5);
  const Index offset = stepped ? between(0, 3) : 0;
  Shape of_base = array.shape;
  Strides strides = Strides::filled(rank, 0);
  const std::vector<Index> order = permutation(rank);
  Index next = 1;
  for (Index i = rank - 1; i >= 0; --i) {
    const Index axis = permuted ? order[static_cast<std::size_t>(i)] : i;
    if (strided && may_expand && array.shape[axis] > 1 && chance(0.12)) {
      of_base[axis] = 1;
      continue;
    }
    strides[axis] = next * (stepped ? between(1, 3) : 1);
    next = strides[axis] * std::max<Index>(array.shape[axis], 1) + (stepped ? between(0, 1) : 0);
  }

  std::vector<double> numbers(static_cast<std::size_t>(offset + next + (stepped ? 2 : 0)),
                              filler(dtype));
  Input input;
  input.array = reference::make(array.shape, [&](Shape place) {
    for (Index axis = 0; axis < rank; ++axis) {
      if (of_base[axis] == 1) place[axis] = 0;
    }
    const double value = array[place];
    return dtype == float32 ? static_cast<double>(static_cast<float>(value)) : value;
  });
  for (const Shape& place : reference::places(of_base))
    numbers[static_cast<std::size_t>(position(place, strides, offset))] = input.array[place];
  const Tensor memory = memory_of(numbers, dtype);
  input.tensor = memory.alias(array.shape, strides, offset);
  input.base = of_base == array.shape ? input.tensor : memory.alias(of_base, strides, offset);
  return input;
}

std::string layout_of(const Tensor& tensor) {
  std::string result = text(tensor.shape(), " ", tensor.dtype());
  if (!tensor.is_contiguous()) result += text(", strides ", tensor.strides());
  if (tensor.impl().offset > 0) result += text(", offset ", tensor.impl().offset);
  return result;
}

Array read(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::float32: return read_as<float>(tensor);
    case DType::float64: return read_as<double>(tensor);
    case DType::int64: return read_as<Index>(tensor);
    case DType::boolean: return read_as<bool>(tensor);
  }
  return {};
}

}  // namespace gradus::testing
