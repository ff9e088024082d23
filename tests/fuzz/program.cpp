#include "tests/fuzz/program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "framework/core/error.h"
#include "framework/ops/creation.h"

namespace gradus::fuzz {
namespace {

constexpr std::size_t kMostTensors = 12;
constexpr std::size_t kMostMasks = 4;

constexpr Index kLargest = std::numeric_limits<Index>::max();
constexpr Index kSmallest = std::numeric_limits<Index>::min();

/// The first and last byte that the elements of x take up lie in its storage.
void check_inside_storage(const Tensor& x) {
  if (x.numel() == 0) return;
  __int128 low = x.impl().offset;
  __int128 high = low;
  for (Index axis = 0; axis < x.dim(); ++axis) {
    const __int128 reach = static_cast<__int128>(x.shape()[axis] - 1) * x.strides()[axis];
    (reach < 0 ? low : high) += reach;
  }
  const auto bytes = static_cast<__int128>(x.impl().storage->bytes());
  if (low < 0 || (high + 1) * x.itemsize() > bytes) {
    fail(gradus::text("a tensor ", x.shape(), " ", x.dtype(), " with strides ", x.strides(),
                      " and offset ", x.impl().offset, " reaches beyond its ",
                      static_cast<Index>(bytes), " bytes"));
  }
}

void check(const Tensor& x) {
  if (!x.defined()) return;
  if (element_count(x.shape()) != x.numel()) {
    fail(gradus::text("numel ", x.numel(), " of shape ", x.shape()));
  }
  if (x.strides().size() != x.dim()) {
    fail(gradus::text("strides ", x.strides(), " of shape ", x.shape()));
  }
  check_inside_storage(x);
  if (x.requires_grad() && !is_floating(x.dtype())) {
    fail(gradus::text("a ", x.dtype(), " tensor wants a gradient"));
  }
}

}  // namespace

void fail(const std::string& what) {
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::abort();
}

Index Program::integer() {
  static constexpr Index hostile[] = {kSmallest,
                                      kLargest,
                                      kSmallest + 1,
                                      kLargest - 1,
                                      kLargest / 2,
                                      kLargest / 8,
                                      kSmallest / 2,
                                      Index{1} << 31,
                                      Index{1} << 32,
                                      Index{1} << 40,
                                      Index{1} << 53,
                                      Index{1} << 60,
                                      -100,
                                      -(Index{1} << 31),
                                      -(Index{1} << 40),
                                      Index{1} << 62,
                                      100,
                                      255};
  const int chosen = byte();
  if (chosen < 224) return chosen % 14 - 5;  // -5..8
  return hostile[static_cast<std::size_t>(chosen - 224) % std::size(hostile)];
}

Index Program::size() {
  const int chosen = byte();
  return chosen < 244 ? chosen % 6 : integer();
}

double Program::number() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double choices[] = {
      0.0,    1.0,     -1.0,   0.5,    2.0,  -2.5, 3.0,   0.1,
      -0.0,   1e-9,    0.999,  10.0,   inf,  -inf, 1e300, -1e300,
      0x1p63, -0x1p63, 0x1p53, 1e-320, 1e39, -7.0, 1e6,   std::numeric_limits<double>::quiet_NaN()};
  const int chosen = byte();
  if (chosen < 64) return static_cast<double>(chosen - 32) / 8.0;
  return choices[static_cast<std::size_t>(chosen) % std::size(choices)];
}

DType Program::dtype() {
  constexpr DType choices[] = {float32, float64, int64, boolean, float64, float32, float64, int64};
  return choices[below(8)];
}

Shape Program::shape() {
  const int chosen = byte();
  std::vector<Index> sizes(static_cast<std::size_t>(chosen < 240 ? chosen % 7 : chosen - 236));
  for (Index& each : sizes) each = size();
  // No elements, beside an axis so long that no loop may count along it.
  if (chosen >= 224 && chosen < 240 && sizes.size() >= 2) {
    const std::size_t place = static_cast<std::size_t>(byte()) % sizes.size();
    sizes[place] = 0;
    sizes[(place + 1) % sizes.size()] = Index{1} << (chosen % 2 == 0 ? 40 : 57);
  }
  return Shape(sizes);
}

Axes Program::axes() {
  std::vector<Index> list(static_cast<std::size_t>(below(5)));
  for (Index& each : list) each = rarely(16) ? integer() : below(8) - 4;
  return Axes(list);
}

Shape Program::shape_like(const Tensor& x) {
  Shape shape = x.shape();
  switch (byte() % 12) {
    case 0:
      if (!shape.empty()) shape[below(shape.size())] = size();
      break;
    case 1:
      if (!shape.empty()) shape[below(shape.size())] = 1;
      break;
    case 2:
      if (!shape.empty()) shape.erase(below(shape.size()));
      break;
    case 3: shape.insert(0, size()); break;
    case 4: shape.push_back(size()); break;
    default: break;
  }
  return shape;
}

std::string Program::text(std::string_view alphabet) {
  std::string result(static_cast<std::size_t>(below(16)), ' ');
  for (char& c : result) c = alphabet[static_cast<std::size_t>(byte()) % alphabet.size()];
  return result;
}

Tensor Program::tensor() {
  if (tensors_.empty() || rarely(64)) return Tensor();
  return tensors_[static_cast<std::size_t>(below(static_cast<Index>(tensors_.size())))];
}

Tensor Program::floating() {
  Tensor x = tensor();
  if (x.defined() && is_floating(x.dtype())) return x;
  if (rarely(16)) return x;
  for (const Tensor& kept : tensors_) {
    if (is_floating(kept.dtype())) return kept;
  }
  return x;
}

Tensor Program::partner(const Tensor& x) {
  const int way = byte() % 4;
  if (way == 0 || !x.defined()) return tensor();
  if (way == 1) return x;
  for (const Tensor& kept : tensors_) {
    if (kept.dtype() == x.dtype() && kept.shape() == x.shape() && !kept.is_same(x)) return kept;
  }
  return filled(shape_like(x), rarely(16) ? dtype() : x.dtype());
}

Tensor Program::filled(const Shape& shape, DType dtype) {
  // Every other one is a view: its last axes swapped, every second element, or repeated.
  Tensor x = full(shape, 0.0, dtype);
  const int way = byte() % 8;
  if (x.dim() >= 2 && way == 1) {
    x = zeros(x.transpose(-2, -1).shape(), dtype).transpose(-2, -1);
  } else if (x.dim() >= 1 && way == 2 && x.shape()[0] < kMostElements) {
    Shape twice = shape;
    twice[0] = 2 * twice[0] + 1;
    x = zeros(twice, dtype).slice(0, 1, std::nullopt, 2);
  } else if (x.dim() >= 1 && way == 3) {
    Shape single = shape;
    single[0] = 1;
    return zeros(single, dtype).expand(shape);
  }
  if (x.numel() == 0 || x.numel() > kMostElements) return x;
  // A few numbers of the program's, then what follows from them.
  const double start = is_floating(dtype) ? number() : static_cast<double>(integer());
  const double step = is_floating(dtype) ? number() : static_cast<double>(below(4));
  const Tensor numbers = zeros(shape, float64);
  double value = start;
  auto* data = static_cast<double*>(numbers.raw());
  for (Index i = 0; i < numbers.numel(); ++i) {
    data[i] = dtype == boolean ? std::fmod(std::fabs(std::round(value)), 2.0) == 1.0 : value;
    value += step;
    if (dtype == int64 && std::fabs(value) > 0x1p62) value = 0;
  }
  if (dtype == int64 && std::fabs(start) > 0x1p62) data[0] = start < 0 ? -0x1p63 : 0x1p62;
  x.copy_(numbers.to(dtype));
  return x;
}

Tensor Program::indices(const Shape& shape, Index bound) {
  const Tensor result = zeros(shape, int64);
  if (result.numel() > kMostElements) return result;
  const Index start = rarely(16) ? integer() : below(8);
  const Index step = below(4);
  const Index most = std::max<Index>(bound, 1);
  auto* data = static_cast<Index*>(result.raw());
  for (Index i = 0; i < result.numel(); ++i) {
    data[i] = start < 0 || start > 64 ? start : (start + i * step) % most;
  }
  return result;
}

Tensor Program::optional(const Shape& shape, DType dtype) {
  return rarely(3) ? Tensor() : rarely(8) ? tensor() : filled(shape, dtype);
}

std::vector<Tensor> Program::several() {
  std::vector<Tensor> list;
  const Index count = below(4);
  if (count == 0) return list;
  list.push_back(tensor());
  while (static_cast<Index>(list.size()) < count) list.push_back(partner(list.front()));
  return list;
}

AttentionMask Program::mask() {
  if (masks_.empty() || rarely(4)) return {};
  return masks_[static_cast<std::size_t>(below(static_cast<Index>(masks_.size())))];
}

void Program::keep(const Tensor& result) {
  check(result);
  if (!result.defined() || result.numel() > kMostElements) return;
  result.to_vector<double>();  // under the sanitizer: all of it is there to be read
  if (tensors_.size() < kMostTensors) {
    tensors_.push_back(result);
  } else {
    tensors_[oldest_++ % kMostTensors] = result;
  }
}

void Program::keep(const AttentionMask& mask) {
  if (masks_.size() == kMostMasks) masks_.erase(masks_.begin());
  masks_.push_back(mask);
}

void Program::check_all() const {
  for (const Tensor& x : tensors_) {
    check(x);
    const Tensor gradient = x.grad();
    if (!gradient.defined()) continue;
    check(gradient);
    if (!(gradient.shape() == x.shape()) || gradient.dtype() != x.dtype()) {
      fail(gradus::text("a gradient ", gradient.shape(), " ", gradient.dtype(), " of a tensor ",
                        x.shape(), " ", x.dtype()));
    }
    gradient.to_vector<double>();
  }
}

}  // namespace gradus::fuzz
