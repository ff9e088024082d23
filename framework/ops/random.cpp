// Each op allocates, then lets the Generator fill: what is drawn, and in which order, is written in
// framework/core/random.cpp. Arguments are checked before the first draw, so that a call that fails
// leaves the stream where it was.
#include "framework/ops/random.h"

#include <limits>
#include <numeric>
#include <span>

#include "framework/core/error.h"

namespace gradus {
namespace {

// Calls draw(generator). A chosen generator is its owner's to guard; the default one is locked.
template <class Draw>
void with_generator(Generator* chosen, Draw draw) {
  if (chosen != nullptr && chosen != &default_generator()) return draw(*chosen);
  const LockedGenerator locked;
  draw(*locked);
}

template <class T>
std::span<T> numbers(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<std::size_t>(tensor.numel())};
}

void check_floating(const char* op, DType dtype) {
  if (is_floating(dtype)) return;
  throw DTypeError(
      text(op, ": draws fractions, which ", dtype, " cannot hold"),
      {.need = "float32 or float64", .hint = "randint(low, high, shape) draws whole numbers"});
}

// A tensor of fractions, filled by fill(generator, numbers).
template <class Fill>
Tensor fractions(const char* op, const Shape& shape, DType dtype, Generator* generator, Fill fill) {
  check_floating(op, dtype);
  Tensor result(shape, dtype);
  with_generator(generator, [&](Generator& source) {
    if (dtype == float32) {
      fill(source, numbers<float>(result));
    } else {
      fill(source, numbers<double>(result));
    }
  });
  return result;
}

void check_interval(double low, double high, DType dtype) {
  if (!(low <= high)) {
    throw ValueError(text("uniform: low ", low, " to high ", high, " is no interval"),
                     {.need = "low <= high"});
  }
  const double most = dtype == float32 ? static_cast<double>(std::numeric_limits<float>::max())
                                       : std::numeric_limits<double>::max();
  if (low < -most || high > most || high - low > most) {
    throw ValueError(text("uniform: low ", low, " and high ", high, " are too far for ", dtype),
                     {.need = text("low, high and high - low of at most ", most)});
  }
}

template <class T>
void fill_bernoulli(Generator& source, double p, std::span<T> out) {
  for (T& number : out) number = static_cast<T>(source.bernoulli(p));
}

}  // namespace

Tensor rand(const Shape& shape, DType dtype, Generator* generator) {
  return fractions("rand", shape, dtype, generator,
                   [](Generator& source, auto out) { source.fill_uniform(out); });
}

Tensor randn(const Shape& shape, DType dtype, Generator* generator) {
  return fractions("randn", shape, dtype, generator,
                   [](Generator& source, auto out) { source.fill_normal(out); });
}

Tensor uniform(const Shape& shape, double low, double high, DType dtype, Generator* generator) {
  check_floating("uniform", dtype);
  check_interval(low, high, dtype);
  return fractions("uniform", shape, dtype, generator, [&](Generator& source, auto out) {
    using Float = typename decltype(out)::value_type;
    source.fill_uniform(out, static_cast<Float>(low), static_cast<Float>(high));
  });
}

Tensor randint(Index low, Index high, const Shape& shape, Generator* generator) {
  Tensor result(shape, int64);
  with_generator(generator, [&](Generator& source) {
    source.fill_randint(numbers<std::int64_t>(result), low, high);
  });
  return result;
}

Tensor randperm(Index n, Generator* generator) {
  Tensor result({n}, int64);
  const std::span<std::int64_t> items = numbers<std::int64_t>(result);
  std::iota(items.begin(), items.end(), std::int64_t{0});
  with_generator(generator, [&](Generator& source) { source.shuffle(items); });
  return result;
}

Tensor bernoulli(const Shape& shape, double p, DType dtype, Generator* generator) {
  check_probability("bernoulli", p);
  Tensor result(shape, dtype);
  with_generator(generator, [&](Generator& source) {
    switch (dtype) {
      case float32: return fill_bernoulli(source, p, numbers<float>(result));
      case float64: return fill_bernoulli(source, p, numbers<double>(result));
      case int64: return fill_bernoulli(source, p, numbers<std::int64_t>(result));
      case boolean: return fill_bernoulli(source, p, numbers<bool>(result));
    }
  });
  return result;
}

}  // namespace gradus
