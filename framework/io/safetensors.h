// Safetensors, the file format in which weights travel between programs (PyTorch, JAX, MLX ...):
// the length of a JSON header in 8 bytes, the header, which gives name, dtype, shape and place of
// every tensor and some text, and the numbers, row-major and little-endian, one tensor after the
// other. (https://github.com/huggingface/safetensors, "Format".)
//
// A file is read with distrust: whatever is not exactly as the format wants it is refused by name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "framework/io/state_dict.h"

namespace gradus {

/// Text by name.
using Metadata = std::map<std::string, std::string>;

/// What a safetensors file holds.
struct Safetensors {
  StateDict tensors;
  Metadata metadata;
};

/// Reads a file. F32, F64, I64 and BOOL are the dtypes of Gradus; F16 and BF16 become float32, and
/// I8, I16, I32, U8, U16 and U32 int64, all without loss. Throws IoError that names the file, the
/// tensor and the fault, among them other dtypes, a file cut short or with bytes to spare, names
/// that come twice, and sizes, offsets and types that do not fit together.
Safetensors load_safetensors(const std::filesystem::path& path);

/// The text of a file, without reading its tensors; that its length is right is checked. Throws
/// IoError as load_safetensors does.
Metadata load_safetensors_metadata(const std::filesystem::path& path);

/// Reads what a file would hold; errors name it `file`.
Safetensors parse_safetensors(std::string_view bytes, const std::string& file);

/// Writes a file in one step (write_file). Tensors of any strides are written in row-major order,
/// each at a multiple of its item size. Throws IoError, and ValueError for an undefined tensor, a
/// name or text that is not UTF-8, and a tensor named "__metadata__".
void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const Metadata& metadata = {});

/// The bytes of such a file.
std::string safetensors_bytes(const StateDict& tensors, const Metadata& metadata = {});

}  // namespace gradus
