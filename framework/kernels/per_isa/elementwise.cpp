// Elementwise kernels: one loop over operands of any strides, and the functions that it applies.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/vector_math.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// Element `position` along each axis but the last, as an offset into one operand.
Index outer_offset(Loop loop, Index position, const Index* strides) {
  Index offset = 0;
  for (Index axis = loop.rank - 2; axis >= 0; --axis) {
    offset += position % loop.sizes[axis] * strides[axis];
    position /= loop.sizes[axis];
  }
  return offset;
}

/// Calls row(begin, end, start of each operand, stride of each operand) for all stretches of the
/// last axis, in parallel over large arrays.
template <int N, class Row>
void for_each_row(Loop loop, const Index* const (&strides)[N], Row row) {
  if (loop.rank == 0) {
    const Index zeros[N] = {};
    return row(Index{0}, Index{1}, zeros, zeros);
  }
  const Index length = loop.sizes[loop.rank - 1];
  Index rows = 1;
  for (Index axis = 0; axis + 1 < loop.rank; ++axis) rows *= loop.sizes[axis];
  Index steps[N];
  for (int n = 0; n < N; ++n) steps[n] = strides[n][loop.rank - 1];
  if (rows == 1) {
    const Index zeros[N] = {};
    parallel_for(length, kChunk, [&](Index begin, Index end) { row(begin, end, zeros, steps); });
    return;
  }
  parallel_for(rows, at_least_one(kChunk / at_least_one(length)), [&](Index first, Index last) {
    for (Index r = first; r < last; ++r) {
      Index starts[N];
      for (int n = 0; n < N; ++n) starts[n] = outer_offset(loop, r, strides[n]);
      row(Index{0}, length, starts, steps);
    }
  });
}

/// o = f(a), a row of it. Flat: a call in the loop would keep it from becoming vector code.
template <class Out, class In, class F>
[[gnu::flatten]] void map_row(Index begin, Index end, Out* o, Index so, const In* a, Index sa,
                              F f) {
  if (so == 1 && sa == 1) {
    for (Index i = begin; i < end; ++i) o[i] = f(a[i]);
  } else {
    for (Index i = begin; i < end; ++i) o[i * so] = f(a[i * sa]);
  }
}

template <class Out, class In, class F>
void map(Loop loop, Operand out, Operand x, F f) {
  const Index* const strides[] = {out.strides, x.strides};
  for_each_row(loop, strides, [&](Index begin, Index end, const Index* start, const Index* step) {
    map_row(begin, end, static_cast<Out*>(out.data) + start[0], step[0],
            static_cast<const In*>(x.data) + start[1], step[1], f);
  });
}

/// o = f(a, b), a row of it.
template <class Out, class In, class F>
[[gnu::flatten]] void zip_row(Index begin, Index end, Out* o, Index so, const In* a, Index sa,
                              const In* b, Index sb, F f) {
  if (so == 1 && sa == 1 && sb == 1) {
    for (Index i = begin; i < end; ++i) o[i] = f(a[i], b[i]);
  } else if (so == 1 && sa == 1 && sb == 0) {
    const In all = *b;
    for (Index i = begin; i < end; ++i) o[i] = f(a[i], all);
  } else if (so == 1 && sa == 0 && sb == 1) {
    const In all = *a;
    for (Index i = begin; i < end; ++i) o[i] = f(all, b[i]);
  } else {
    for (Index i = begin; i < end; ++i) o[i * so] = f(a[i * sa], b[i * sb]);
  }
}

template <class Out, class In, class F>
void zip(Loop loop, Operand out, Operand x, Operand y, F f) {
  const Index* const strides[] = {out.strides, x.strides, y.strides};
  for_each_row(loop, strides, [&](Index begin, Index end, const Index* start, const Index* step) {
    zip_row(begin, end, static_cast<Out*>(out.data) + start[0], step[0],
            static_cast<const In*>(x.data) + start[1], step[1],
            static_cast<const In*>(y.data) + start[2], step[2], f);
  });
}

template <class T>
void unary_of(Unary op, Loop loop, Operand out, Operand x) {
  switch (op) {
    case Unary::exp: return map<T, T>(loop, out, x, [](T v) { return vector_math::exp(v); });
    case Unary::log: return map<T, T>(loop, out, x, [](T v) { return vector_math::log(v); });
    case Unary::sqrt: return map<T, T>(loop, out, x, [](T v) { return std::sqrt(v); });
    case Unary::tanh: return map<T, T>(loop, out, x, [](T v) { return vector_math::tanh(v); });
    case Unary::sigmoid:
      return map<T, T>(loop, out, x, [](T v) { return vector_math::sigmoid(v); });
    case Unary::softplus:
      return map<T, T>(loop, out, x, [](T v) {
        return (v > 0 ? v : T{0}) + std::log1p(vector_math::exp(-std::fabs(v)));
      });
    case Unary::relu: return map<T, T>(loop, out, x, [](T v) { return v < 0 ? T{0} : v; });
    case Unary::erf: return map<T, T>(loop, out, x, [](T v) { return vector_math::erf(v); });
    case Unary::gelu:
      return map<T, T>(loop, out, x, [](T v) { return v * vector_math::normal(v).below; });
    case Unary::negate: return map<T, T>(loop, out, x, [](T v) { return -v; });
    case Unary::abs: return map<T, T>(loop, out, x, [](T v) { return std::fabs(v); });
    case Unary::sign:
      return map<T, T>(loop, out, x, [](T v) { return v > 0 ? T{1} : (v < 0 ? T{-1} : v); });
    case Unary::floor: return map<T, T>(loop, out, x, [](T v) { return std::floor(v); });
    case Unary::ceil: return map<T, T>(loop, out, x, [](T v) { return std::ceil(v); });
    case Unary::sin: return map<T, T>(loop, out, x, [](T v) { return std::sin(v); });
    case Unary::cos: return map<T, T>(loop, out, x, [](T v) { return std::cos(v); });
  }
}

/// Wraps around as unsigned arithmetic does, since signed overflow has no meaning in C++.
template <class F>
constexpr auto wrapping(F f) {
  return [f](Index a, Index b) {
    return static_cast<Index>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  };
}

void unary(Unary op, DType dtype, Loop loop, Operand out, Operand x) {
  if (dtype == DType::int64) {
    if (op == Unary::negate) {
      map<Index, Index>(loop, out, x, [](Index v) {
        return static_cast<Index>(0 - static_cast<std::uint64_t>(v));
      });
    } else if (op == Unary::abs) {
      map<Index, Index>(loop, out, x, [](Index v) {
        return v < 0 ? static_cast<Index>(0 - static_cast<std::uint64_t>(v)) : v;
      });
    }
    return;
  }
  for_floating(dtype, [&]<class T>(T*) { unary_of<T>(op, loop, out, x); });
}

template <class T>
void binary_of(Binary op, Loop loop, Operand out, Operand a, Operand b) {
  switch (op) {
    case Binary::add: return zip<T, T>(loop, out, a, b, [](T x, T y) { return x + y; });
    case Binary::subtract: return zip<T, T>(loop, out, a, b, [](T x, T y) { return x - y; });
    case Binary::multiply: return zip<T, T>(loop, out, a, b, [](T x, T y) { return x * y; });
    case Binary::divide: return zip<T, T>(loop, out, a, b, [](T x, T y) { return x / y; });
    case Binary::power: return zip<T, T>(loop, out, a, b, [](T x, T y) { return std::pow(x, y); });
    case Binary::gelu_backward:
      return zip<T, T>(loop, out, a, b, [](T g, T x) {
        const auto [below, density] = vector_math::normal(x);
        return g * (below + x * density);
      });
    case Binary::maximum:
      return zip<T, T>(loop, out, a, b, [](T x, T y) { return x > y || x != x ? x : y; });
    case Binary::minimum:
      return zip<T, T>(loop, out, a, b, [](T x, T y) { return x < y || x != x ? x : y; });
  }
}

void binary_of_integers(Binary op, Loop loop, Operand out, Operand a, Operand b) {
  const auto add = wrapping([](auto x, auto y) { return x + y; });
  const auto subtract = wrapping([](auto x, auto y) { return x - y; });
  const auto multiply = wrapping([](auto x, auto y) { return x * y; });
  switch (op) {
    case Binary::add: return zip<Index, Index>(loop, out, a, b, add);
    case Binary::subtract: return zip<Index, Index>(loop, out, a, b, subtract);
    case Binary::multiply: return zip<Index, Index>(loop, out, a, b, multiply);
    case Binary::divide:
    case Binary::power:
    case Binary::gelu_backward: return;  // for floating operands only
    case Binary::maximum:
      return zip<Index, Index>(loop, out, a, b, [](Index x, Index y) { return x > y ? x : y; });
    case Binary::minimum:
      return zip<Index, Index>(loop, out, a, b, [](Index x, Index y) { return x < y ? x : y; });
  }
}

void binary(Binary op, DType dtype, Loop loop, Operand out, Operand a, Operand b) {
  if (dtype == DType::int64) return binary_of_integers(op, loop, out, a, b);
  for_floating(dtype, [&]<class T>(T*) { binary_of<T>(op, loop, out, a, b); });
}

template <class T>
void compare_of(Compare op, Loop loop, Operand out, Operand a, Operand b) {
  switch (op) {
    case Compare::equal: return zip<bool, T>(loop, out, a, b, [](T x, T y) { return x == y; });
    case Compare::not_equal: return zip<bool, T>(loop, out, a, b, [](T x, T y) { return x != y; });
    case Compare::less: return zip<bool, T>(loop, out, a, b, [](T x, T y) { return x < y; });
    case Compare::less_equal: return zip<bool, T>(loop, out, a, b, [](T x, T y) { return x <= y; });
    case Compare::greater: return zip<bool, T>(loop, out, a, b, [](T x, T y) { return x > y; });
    case Compare::greater_equal:
      return zip<bool, T>(loop, out, a, b, [](T x, T y) { return x >= y; });
  }
}

void compare(Compare op, DType dtype, Loop loop, Operand out, Operand a, Operand b) {
  for_any(dtype, [&]<class T>(T*) { compare_of<T>(op, loop, out, a, b); });
}

template <class T>
void select_of(Loop loop, Operand out, Operand condition, Operand x, Operand y) {
  const Index* const strides[] = {out.strides, condition.strides, x.strides, y.strides};
  for_each_row(loop, strides, [&](Index begin, Index end, const Index* start, const Index* step) {
    T* o = static_cast<T*>(out.data) + start[0];
    const bool* c = static_cast<const bool*>(condition.data) + start[1];
    const T* a = static_cast<const T*>(x.data) + start[2];
    const T* b = static_cast<const T*>(y.data) + start[3];
    for (Index i = begin; i < end; ++i) {
      o[i * step[0]] = c[i * step[1]] ? a[i * step[2]] : b[i * step[3]];
    }
  });
}

void select(DType dtype, Loop loop, Operand out, Operand condition, Operand a, Operand b) {
  for_any(dtype, [&]<class T>(T*) { select_of<T>(loop, out, condition, a, b); });
}

/// Out of range and NaN have no meaning as an integer in C++; here they become the nearest end, and
/// 0.
template <class From>
Index to_integer(From value) {
  if (value != value) return 0;
  if (value >= static_cast<From>(0x1p63)) return std::numeric_limits<Index>::max();
  if (value < static_cast<From>(-0x1p63)) return std::numeric_limits<Index>::min();
  return static_cast<Index>(value);
}

template <class To, class From>
[[gnu::always_inline]] inline To converted(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_same_v<To, Index> && std::is_floating_point_v<From>) {
    return to_integer(value);
  } else {
    return static_cast<To>(value);
  }
}

void convert(DType to, DType from, Loop loop, Operand out, Operand x) {
  for_any(to, [&]<class To>(To*) {
    for_any(from, [&]<class From>(From*) {
      map<To, From>(loop, out, x, [](From value) { return converted<To>(value); });
    });
  });
}

void add_scaled(DType dtype, Loop loop, Operand out, Operand x, double alpha) {
  if (dtype == DType::int64) {
    const Index factor = to_integer(alpha);
    return zip<Index, Index>(loop, out, out, x, wrapping([factor](auto a, auto b) {
                               return a + static_cast<std::uint64_t>(factor) * b;
                             }));
  }
  for_floating(dtype, [&]<class T>(T*) {
    const T factor = static_cast<T>(alpha);
    zip<T, T>(loop, out, out, x, [factor](T a, T b) { return a + factor * b; });
  });
}

}  // namespace

void fill_elementwise(Table& table) {
  table.unary = unary;
  table.binary = binary;
  table.compare = compare;
  table.select = select;
  table.convert = convert;
  table.add_scaled = add_scaled;
}

}  // namespace gradus::kernels::GRADUS_ISA
