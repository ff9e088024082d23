#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "framework/io/safetensors_types_internal.h"

namespace gradus::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian, and numbers are copied as they are");

constexpr FileType kTypes[] = {{"F32", 4, float32},
                               {"F64", 8, float64},
                               {"I64", 8, int64},
                               {"BOOL", 1, boolean},
                               {"F16", 2, float32},
                               {"BF16", 2, float32},
                               {"I8", 1, int64},
                               {"I16", 2, int64},
                               {"I32", 4, int64},
                               {"U8", 1, int64},
                               {"U16", 2, int64},
                               {"U32", 4, int64},
                               {"U64"},
                               {"C64"},
                               {"F8_E4M3"},
                               {"F8_E5M2"},
                               {"F8_E8M0"},
                               {"F6_E2M3"},
                               {"F6_E3M2"},
                               {"F4"}};

/// IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const auto fraction = static_cast<std::uint32_t>(bits & 0x3FF);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 15) << 31;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  const float size = exponent == 0
                         ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
}

/// The upper half of a binary32.
float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class From, class To, class Convert>
void convert_all(const char* bytes, const Tensor& out, Convert convert) {
  auto* to = static_cast<To*>(out.raw());
  for (Index i = 0; i < out.numel(); ++i, bytes += sizeof(From)) {
    From number;
    std::memcpy(&number, bytes, sizeof(From));
    to[i] = convert(number);
  }
}

template <class From>
void to_int64(const char* bytes, const Tensor& out) {
  convert_all<From, Index>(bytes, out, [](From number) { return static_cast<Index>(number); });
}

}  // namespace

const FileType* find_type(std::string_view name) {
  const auto* const type =
      std::find_if(std::begin(kTypes), std::end(kTypes),
                   [name](const FileType& known) { return known.name == name; });
  return type == std::end(kTypes) ? nullptr : type;
}

const FileType& type_of(DType dtype) {
  switch (dtype) {
    case DType::float32: return *find_type("F32");
    case DType::float64: return *find_type("F64");
    case DType::int64: return *find_type("I64");
    case DType::boolean: break;
  }
  return *find_type("BOOL");
}

Tensor tensor_from(const FileType& type, const char* bytes, const Shape& shape) {
  Tensor out(shape, *type.dtype);
  const auto size = static_cast<std::size_t>(out.numel()) * type.bytes;
  const auto is_no_bool = [](char byte) { return byte != 0 && byte != 1; };
  if (type.dtype == boolean && std::any_of(bytes, bytes + size, is_no_bool)) return {};
  if (type.name == "F16") {
    convert_all<std::uint16_t, float>(bytes, out, from_half);
  } else if (type.name == "BF16") {
    convert_all<std::uint16_t, float>(bytes, out, from_bfloat16);
  } else if (type.name == "I8") {
    to_int64<std::int8_t>(bytes, out);
  } else if (type.name == "I16") {
    to_int64<std::int16_t>(bytes, out);
  } else if (type.name == "I32") {
    to_int64<std::int32_t>(bytes, out);
  } else if (type.name == "U8") {
    to_int64<std::uint8_t>(bytes, out);
  } else if (type.name == "U16") {
    to_int64<std::uint16_t>(bytes, out);
  } else if (type.name == "U32") {
    to_int64<std::uint32_t>(bytes, out);
  } else if (size > 0) {
    std::memcpy(out.raw(), bytes, size);
  }
  return out;
}

}  // namespace gradus::safetensors
