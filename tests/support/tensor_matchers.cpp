#include "tests/support/tensor_matchers.h"

#include <cmath>
#include <vector>

#include "framework/ops/creation.h"

namespace gradus::testing {
namespace {

/// int64 numbers beyond 2^53 do not fit a double, so they are compared as what they are.
std::string integer_difference(const Tensor& got, const Tensor& want) {
  const auto a = got.to_vector<std::int64_t>();
  const auto b = want.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return text("element ", i, " is ", a[i], ", wanted ", b[i]);
  }
  return "";
}

std::string number(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

/// The index of element n in row-major order, as "[1, 0, 2]".
std::string place(std::size_t n, const Shape& shape) {
  std::string result;
  for (Index axis = shape.size() - 1; axis >= 0; --axis) {
    const auto size = static_cast<std::size_t>(shape[axis]);
    result = std::to_string(n % size) + (result.empty() ? "" : ", " + result);
    n /= size;
  }
  return "[" + result + "]";
}

double largest_finite(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::fmax(largest, std::fabs(value));
  }
  return largest;
}

/// How far apart two numbers are: infinite where one is NaN or infinite and the other is not that.
double distance(double got, double want) {
  if (std::isnan(got) && std::isnan(want)) return 0.0;
  if (got == want) return 0.0;
  const double apart = std::fabs(got - want);
  return std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
}

}  // namespace

Tolerance usual_tolerance(DType dtype) {
  if (dtype == float64) return {1e-10, 1e-12};
  if (dtype == float32) return {1e-5, 1e-6};
  return exactly;
}

std::string difference(const Tensor& got, const Tensor& want, std::optional<Tolerance> given) {
  if (!got.defined() || !want.defined()) {
    return got.defined() == want.defined() ? "" : "one of the tensors is undefined";
  }
  if (!(got.shape() == want.shape())) {
    return text("shape is ", got.shape(), ", wanted ", want.shape());
  }
  if (got.dtype() != want.dtype()) return text("dtype is ", got.dtype(), ", wanted ", want.dtype());
  if (!is_floating(got.dtype())) return integer_difference(got, want);

  const auto a = got.to_vector<double>();
  const auto b = want.to_vector<double>();
  const Tolerance tolerance = given.value_or(usual_tolerance(got.dtype()));
  const double limit = tolerance.atol + tolerance.rtol * largest_finite(b);
  std::size_t worst = 0;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(distance(a[i], b[i]) <= limit)) ++outside;
    if (distance(a[i], b[i]) > distance(a[worst], b[worst])) worst = i;
  }
  if (outside == 0) return "";
  return text(outside, " of ", a.size(), " elements differ by more than ", number(limit),
              ", most of all ", place(worst, got.shape()), ": ", number(a[worst]), ", wanted ",
              number(b[worst]), " (off by ", number(distance(a[worst], b[worst])), ")");
}

bool CloseTensor::match(const Tensor& got) const {
  const Tensor want = of_any_dtype_ && got.defined() ? want_.to(got.dtype()) : want_;
  difference_ = difference(got, want, tolerance_);
  return difference_.empty();
}

std::string CloseTensor::describe() const {
  const char* claim = of_any_dtype_ ? "has the values\n" : "is close to\n";
  return text(claim, want_, difference_.empty() ? "" : "\nbut ", difference_);
}

CloseTensor IsCloseTo(const Tensor& want, std::optional<Tolerance> tolerance) {
  return {want, false, tolerance};
}

CloseTensor HasValues(const NestedNumbers& want, std::optional<Tolerance> tolerance) {
  return {tensor(want, float64), true, tolerance};
}

}  // namespace gradus::testing
