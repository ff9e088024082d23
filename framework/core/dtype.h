// The four element types of a tensor, and the bridge between them and C++ types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string_view>
#include <type_traits>

namespace gradus {

using Index = std::int64_t;

enum class DType : std::uint8_t { float32, float64, int64, boolean };

inline constexpr DType float32 = DType::float32;
inline constexpr DType float64 = DType::float64;
inline constexpr DType int64 = DType::int64;
inline constexpr DType boolean = DType::boolean;

/// Bytes of one element.
constexpr std::size_t item_size(DType dtype) {
  switch (dtype) {
    case DType::float32: return 4;
    case DType::float64: return 8;
    case DType::int64: return 8;
    case DType::boolean: return 1;
  }
  return 0;
}

/// The name as PyTorch spells it: "float32", "float64", "int64", "bool".
std::string_view name(DType dtype);

constexpr bool is_floating(DType dtype) { return dtype == float32 || dtype == float64; }

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = float64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = int64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = boolean;
};

/// The dtype whose elements are stored as the C++ type T.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// A number as an element of type To. An integer becomes the nearest one there is, rounded towards
/// 0, and 0 for NaN.
template <class To, class From>
constexpr To element_cast(From value) {
  if constexpr (std::is_same_v<To, Index> && std::is_floating_point_v<From>) {
    if (value != value) return 0;
    if (value >= static_cast<From>(0x1p63)) return std::numeric_limits<Index>::max();
    if (value < static_cast<From>(-0x1p63)) return std::numeric_limits<Index>::min();
  }
  return static_cast<To>(value);
}

std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace gradus
