#include "framework/ops/extreme.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "framework/autograd/node.h"
#include "framework/ops/axes.h"
#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/launch.h"
#include "framework/ops/masking.h"

namespace gradus {
namespace {

using kernels::Extreme;

void check_not_empty(const char* op, const Tensor& x, const Axes& axes) {
  for (const Index axis : axes) {
    if (x.shape()[axis] == 0) {
      throw ShapeError(text(op, ": axis ", axis, " has no elements to choose from"),
                       {.got = text("x ", described(x))});
    }
  }
}

// y = the largest or smallest of x;  dx = g where x = y, divided by how many they are, else 0
Tensor extreme(const char* op, Extreme which, const Tensor& x, const Axes& wanted, bool keepdim) {
  const Axes axes = checked_axes(op, wanted, x.dim());
  check_not_empty(op, x, axes);
  const Tensor from = with_axes_together(x, axes);
  const Shape kept = with_ones(x.shape(), axes);
  const Tensor found(kept, x.dtype());
  if (found.numel() > 0) {
    kernels::table().extreme(which, x.dtype(), split_around(x.shape(), axes), found.raw(), nullptr,
                             from.raw());
  }
  const Tensor y = finished(found, x.shape(), axes, keepdim);
  return record(op, y, {x}, Saves::output | Saves::input0, [axes, kept](const Vjp& v) {
    const Tensor x0 = v.input(0);
    const Tensor equal = eq(x0, v.output().reshape(kept).expand(x0.shape()));
    const Tensor ties = logical_or(equal, isnan(x0));  // NaN wins where there is one
    const Tensor share = v.grad().reshape(kept) / ties.to(x0.dtype()).sum(axes, true);
    return masked_fill(share, logical_not(ties), 0.0);
  });
}

// values = x[indices];  dx = g at indices
MaxResult extreme(const char* op, Extreme which, const Tensor& x, Index axis, bool keepdim) {
  const Index a = checked_axis(op, axis, x.dim());
  if (x.dim() == 0) return {x.clone(), zeros({}, int64)};
  check_not_empty(op, x, {a});
  const Shape kept = with_ones(x.shape(), {a});
  const Tensor from = launch::packed(x);
  const Tensor values(kept, x.dtype());
  const Tensor indices(kept, int64);
  if (values.numel() > 0) {
    kernels::table().extreme(which, x.dtype(), launch::split_at(x.shape(), a), values.raw(),
                             static_cast<Index*>(indices.raw()), from.raw());
  }
  const Tensor y = finished(values, x.shape(), {a}, keepdim);
  const auto rule = [shape = x.shape(), kept, a](const Vjp& v) {
    return scatter_add(zeros(shape, v.grad().dtype()), a, v.input(1), v.grad().reshape(kept));
  };
  return {record(op, y, {x, indices}, Saves::input1, rule),
          finished(indices, x.shape(), {a}, keepdim)};
}

/// First positions of the largest or smallest.
Tensor position(const char* op, Extreme which, const Tensor& x, std::optional<Index> axis,
                bool keepdim) {
  if (axis) return extreme(op, which, x.detach(), *axis, keepdim).indices;
  const Tensor all = extreme(op, which, x.detach().flatten(), 0, false).indices;
  return keepdim ? all.view(Shape::filled(x.dim(), 1)) : all;
}

bool is_nan(double x) { return std::isnan(x); }
bool is_nan(Index) { return false; }

/// Positions of the k largest or smallest, best first, of equal ones the first. NaN is the largest.
template <class T>
std::vector<Index> positions_of_best(std::span<const T> row, Index k, bool largest) {
  std::vector<Index> order(row.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto above = [](T a, T b) { return a > b || (is_nan(a) && !is_nan(b)); };
  const auto first = [&](Index a, Index b) {
    const T left = row[static_cast<std::size_t>(a)];
    const T right = row[static_cast<std::size_t>(b)];
    if (above(left, right) || above(right, left)) return above(left, right) == largest;
    return a < b;
  };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), first);
  order.resize(static_cast<std::size_t>(k));
  return order;
}

/// The same for every row of the last axis.
template <class T>
std::vector<Index> positions_of_best(const Tensor& rows, Index k, bool largest) {
  const std::vector<T> values = rows.to_vector<T>();
  const auto size = static_cast<std::size_t>(rows.size(-1));
  std::vector<Index> positions;
  for (std::size_t start = 0; start < values.size(); start += size) {
    const std::span<const T> row(values.data() + start, size);
    const std::vector<Index> best = positions_of_best(row, k, largest);
    positions.insert(positions.end(), best.begin(), best.end());
  }
  return positions;
}

}  // namespace

Tensor amax(const Tensor& x, const Axes& axes, bool keepdim) {
  return extreme("amax", Extreme::largest, x, axes, keepdim);
}
Tensor amin(const Tensor& x, const Axes& axes, bool keepdim) {
  return extreme("amin", Extreme::smallest, x, axes, keepdim);
}
Tensor max(const Tensor& x) { return extreme("max", Extreme::largest, x, Axes{}, false); }
Tensor min(const Tensor& x) { return extreme("min", Extreme::smallest, x, Axes{}, false); }

MaxResult max(const Tensor& x, Index axis, bool keepdim) {
  return extreme("max", Extreme::largest, x, axis, keepdim);
}
MaxResult min(const Tensor& x, Index axis, bool keepdim) {
  return extreme("min", Extreme::smallest, x, axis, keepdim);
}

Tensor argmax(const Tensor& x, std::optional<Index> axis, bool keepdim) {
  return position("argmax", Extreme::largest, x, axis, keepdim);
}
Tensor argmin(const Tensor& x, std::optional<Index> axis, bool keepdim) {
  return position("argmin", Extreme::smallest, x, axis, keepdim);
}

MaxResult topk(const Tensor& x, Index k, Index axis, bool largest) {
  const Index a = checked_axis("topk", axis, x.dim());
  if (x.dim() == 0) {
    const MaxResult one = topk(x.view({1}), k, 0, largest);
    return k == 1 ? MaxResult{one.values.view({}), one.indices.view({})} : one;
  }
  const Index size = x.shape()[a];
  if (k < 0 || k > size) {
    throw ValueError(text("topk: k ", k, " is outside 0..", size),
                     {.got = text("x ", described(x), ", axis ", a)});
  }
  const Tensor rows = x.detach().transpose(a, -1);  // the axis last
  Shape shape = rows.shape();
  shape[shape.size() - 1] = k;
  const std::vector<Index> indices = x.dtype() == int64
                                         ? positions_of_best<Index>(rows, k, largest)
                                         : positions_of_best<double>(rows, k, largest);
  const Tensor index = from_vector(indices, shape).transpose(a, -1).contiguous();
  return {gather(x, a, index), index};
}

}  // namespace gradus
