#include "framework/ops/checks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace gradus {

void check_floating(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype())) {
    throw DTypeError(text(op, ": needs a floating tensor, not ", x.dtype()),
                     {.got = text("x ", described(x)), .hint = "x.to(float32)"});
  }
}

void check_same_dtype(const char* op, const Tensor& x, const Tensor& other) {
  if (x.dtype() == other.dtype()) return;
  const bool both_floating = is_floating(x.dtype()) && is_floating(other.dtype());
  // Towards the floating one: the other way would cut off fractions.
  const bool convert_x = is_floating(other.dtype()) && !is_floating(x.dtype());
  throw DTypeError(
      text(op, ": ", x.dtype(), " and ", other.dtype(), " are not mixed silently"),
      {.got = text("x ", described(x), ", other ", described(other)),
       .hint =
           text(convert_x ? text("x.to(", other.dtype(), ")") : text("other.to(", x.dtype(), ")"),
                both_floating ? ", or model.to(float64) for gradient checks" : "")});
}

void check_dtype(const char* op, const char* role, const Tensor& x, DType wanted) {
  if (x.dtype() == wanted) return;
  throw DTypeError(text(op, ": ", role, " must be ", wanted, ", not ", x.dtype()),
                   {.got = text(role, " ", described(x)),
                    .hint = text(role, ".to(", wanted == boolean ? "boolean" : name(wanted), ")")});
}

void check_not_bool(const char* op, const Tensor& x) {
  if (x.dtype() != boolean) return;
  throw DTypeError(text(op, ": bool tensors have no arithmetic"),
                   {.got = text("x ", described(x)), .hint = "x.to(int64)"});
}

void check_number(const char* op, const Tensor& x, double number) {
  if (is_floating(x.dtype())) return;
  const bool whole = number == std::trunc(number) && number >= -0x1p63 && number < 0x1p63;
  if (x.dtype() == int64 ? whole : number == 0 || number == 1) return;
  throw DTypeError(text(op, ": ", number, " does not fit a ", x.dtype(), " tensor"),
                   {.got = text("x ", described(x)), .hint = "x.to(float32)"});
}

Axes checked_axes(const char* op, const Axes& axes, Index rank) {
  Axes result;
  if (axes.empty()) {
    for (Index axis = 0; axis < rank; ++axis) result.push_back(axis);
    return result;
  }
  for (const Index axis : axes) {
    const Index counted = checked_axis(op, axis, rank);
    if (rank == 0) continue;  // 0 and -1 name the one element
    if (result.contains(counted)) {
      throw ShapeError(text(op, ": axis ", counted, " is named twice"),
                       {.got = text("axes ", axes, ", rank ", rank)});
    }
    result.push_back(counted);
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool overlaps_itself(const Tensor& x) {
  if (x.numel() < 2 || x.is_contiguous()) return false;
  struct Axis {
    Index step;
    Index size;
  };
  std::vector<Axis> axes;
  for (Index i = 0; i < x.dim(); ++i) {
    if (x.shape()[i] > 1) axes.push_back({std::abs(x.strides()[i]), x.shape()[i]});
  }
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.step < b.step; });
  // An axis that steps over all that lies before it puts nothing in one place.
  Index reach = 0;
  bool apart = true;
  for (const Axis& axis : axes) {
    apart = apart && axis.step > reach;
    reach += axis.step * (axis.size - 1);
  }
  if (apart || axes.front().step == 0) return !apart;
  std::vector<Index> places{0};
  for (const Axis& axis : axes) {
    const std::size_t before = places.size();
    for (Index n = 1; n < axis.size; ++n) {
      for (std::size_t i = 0; i < before; ++i) places.push_back(places[i] + n * axis.step);
    }
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

std::string described(const Tensor& x) { return text(x.shape(), " ", x.dtype()); }

}  // namespace gradus
