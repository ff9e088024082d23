// The element types of safetensors files, and how their numbers become those of a tensor.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "framework/core/tensor.h"

namespace gradus::safetensors {

/// An element type of the format.
struct FileType {
  std::string_view name;  ///< "F32"
  std::size_t bytes = 0;  ///< of one element
  /// What it becomes here; nothing where it cannot be read.
  std::optional<DType> dtype{};
};

/// Null for a name that the format does not know.
const FileType* find_type(std::string_view name);
/// The type that a dtype is written as.
const FileType& type_of(DType dtype);

/// Numbers of that type, row-major, at any address. Undefined for a bool that is neither 0 nor 1.
Tensor tensor_from(const FileType& type, const char* bytes, const Shape& shape);

}  // namespace gradus::safetensors
