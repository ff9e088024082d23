#include "framework/ops/creation.h"

#include <cmath>

#include "framework/ops/checks.h"
#include "framework/ops/launch.h"

namespace gradus {

Tensor empty(const Shape& shape, DType dtype) { return Tensor(shape, dtype); }
Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0.0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1.0, dtype); }
Tensor empty_like(const Tensor& x) { return empty(x.shape(), x.dtype()); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }

Tensor full(const Shape& shape, double value, DType dtype) {
  Tensor out(shape, dtype);
  check_number("full", out, value);
  launch::fill(out, value);
  return out;
}

Tensor tensor(const NestedNumbers& numbers, DType dtype) {
  return from_vector(numbers.numbers(), numbers.shape()).to(dtype);
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  Tensor out(shape, dtype_of<T>);
  if (static_cast<Index>(values.size()) != out.numel()) {
    throw ShapeError(text("from_vector: ", values.size(), " values for the ", out.numel(),
                          " elements of ", shape));
  }
  std::copy(values.begin(), values.end(), static_cast<T*>(out.raw()));
  return out;
}
template Tensor from_vector(const std::vector<float>&, const Shape&);
template Tensor from_vector(const std::vector<double>&, const Shape&);
template Tensor from_vector(const std::vector<std::int64_t>&, const Shape&);
template Tensor from_vector(const std::vector<bool>&, const Shape&);

Tensor arange(double start, double end, double step, DType dtype) {
  const double steps = std::ceil((end - start) / step);
  if (!(steps >= 0) || !(steps < 0x1p53)) {
    throw ValueError(text("arange: no way from ", start, " to ", end, " in steps of ", step));
  }
  if (!is_floating(dtype) && (start != std::trunc(start) || step != std::trunc(step))) {
    throw ValueError(text("arange: ", start != std::trunc(start) ? start : step, " does not fit a ",
                          dtype, " tensor"),
                     {.hint = "arange(start, end, step, float32)"});
  }
  Tensor values({static_cast<Index>(steps)}, float64);
  double* value = values.mutable_data<double>();
  for (Index i = 0; i < values.numel(); ++i) value[i] = start + static_cast<double>(i) * step;
  return values.to(dtype);
}
Tensor arange(double end, DType dtype) { return arange(0.0, end, 1.0, dtype); }

Tensor linspace(double start, double end, Index steps, DType dtype) {
  if (steps < 0) throw ValueError(text("linspace: negative number of steps ", steps));
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(element_count({steps})));
  const double gap = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0.0;
  for (Index i = 0; i < steps; ++i) {
    // From both ends, so that each is met exactly.
    const bool from_start = i < steps / 2 || steps == 1;
    values.push_back(from_start ? start + gap * static_cast<double>(i)
                                : end - gap * static_cast<double>(steps - 1 - i));
  }
  return from_vector(values).to(dtype);
}

Tensor eye(Index rows, std::optional<Index> columns, DType dtype) {
  Tensor out = zeros({rows, columns.value_or(rows)}, dtype);
  for (Index i = 0; i < std::min(rows, columns.value_or(rows)); ++i) {
    launch::fill(out.select(0, i).select(0, i), 1.0);
  }
  return out;
}

}  // namespace gradus
