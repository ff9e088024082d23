#include "framework/ops/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/ops/arithmetic.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

using launch::Compare;

Tensor compared(const char* op, Compare how, const Tensor& x, const Tensor& other) {
  check_same_dtype(op, x, other);
  const auto [a, b] = broadcast(op, x.detach(), other.detach());
  return launch::compare(how, a, b);
}

// A number that x can hold is compared as it is: a whole one with integers, 0 and 1 with bools. Any
// other is compared with x as float64 numbers.
Tensor compared(Compare how, const Tensor& x, double other) {
  const bool is_whole = other == std::trunc(other) && std::fabs(other) < 0x1p63;
  if (x.dtype() == int64 && is_whole) {
    const Tensor number = from_vector(std::vector<Index>{static_cast<Index>(other)});
    return launch::compare(how, x, number.reshape({}).expand(x.shape()));
  }
  const bool is_bit = other == 0 || other == 1;
  if (is_floating(x.dtype()) || (x.dtype() == boolean && is_bit)) {
    return launch::compare(how, x, other);
  }
  return launch::compare(how, launch::copy(x, float64), other);
}

bool close(double a, double b, double rtol, double atol, bool equal_nan) {
  if (std::isnan(a) || std::isnan(b)) return equal_nan && std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= atol + rtol * std::fabs(b);
}

}  // namespace

Tensor eq(const Tensor& x, const Tensor& other) { return compared("eq", Compare::equal, x, other); }
Tensor ne(const Tensor& x, const Tensor& other) {
  return compared("ne", Compare::not_equal, x, other);
}
Tensor lt(const Tensor& x, const Tensor& other) { return compared("lt", Compare::less, x, other); }
Tensor le(const Tensor& x, const Tensor& other) {
  return compared("le", Compare::less_equal, x, other);
}
Tensor gt(const Tensor& x, const Tensor& other) {
  return compared("gt", Compare::greater, x, other);
}
Tensor ge(const Tensor& x, const Tensor& other) {
  return compared("ge", Compare::greater_equal, x, other);
}
Tensor eq(const Tensor& x, double other) { return compared(Compare::equal, x, other); }
Tensor ne(const Tensor& x, double other) { return compared(Compare::not_equal, x, other); }
Tensor lt(const Tensor& x, double other) { return compared(Compare::less, x, other); }
Tensor le(const Tensor& x, double other) { return compared(Compare::less_equal, x, other); }
Tensor gt(const Tensor& x, double other) { return compared(Compare::greater, x, other); }
Tensor ge(const Tensor& x, double other) { return compared(Compare::greater_equal, x, other); }

Tensor logical_or(const Tensor& x, const Tensor& other) {
  check_dtype("logical_or", "x", x, boolean);
  check_dtype("logical_or", "other", other, boolean);
  const auto [a, b] = broadcast("logical_or", x, other);
  return launch::select(a, a, b);
}

Tensor logical_and(const Tensor& x, const Tensor& other) {
  check_dtype("logical_and", "x", x, boolean);
  check_dtype("logical_and", "other", other, boolean);
  const auto [a, b] = broadcast("logical_and", x, other);
  return launch::select(a, b, a);
}

Tensor logical_not(const Tensor& x) {
  check_dtype("logical_not", "x", x, boolean);
  return launch::compare(Compare::equal, x, 0.0);
}

Tensor logical_xor(const Tensor& x, const Tensor& other) {
  check_dtype("logical_xor", "x", x, boolean);
  check_dtype("logical_xor", "other", other, boolean);
  return compared("logical_xor", Compare::not_equal, x, other);
}

Tensor isnan(const Tensor& x) { return ne(x, x); }

Tensor isinf(const Tensor& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return logical_or(eq(x, infinity), eq(x, -infinity));
}

bool any(const Tensor& x) {
  const std::vector<bool> values = x.to(boolean).to_vector<bool>();
  return std::find(values.begin(), values.end(), true) != values.end();
}

bool all(const Tensor& x) {
  const std::vector<bool> values = x.to(boolean).to_vector<bool>();
  return std::find(values.begin(), values.end(), false) == values.end();
}

bool allclose(const Tensor& x, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (!(x.shape() == other.shape()) || x.dtype() != other.dtype()) return false;
  const std::vector<double> a = x.to_vector<double>();
  const std::vector<double> b = other.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!close(a[i], b[i], rtol, atol, equal_nan)) return false;
  }
  return true;
}

}  // namespace gradus
