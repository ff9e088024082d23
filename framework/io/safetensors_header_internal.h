// The header of a safetensors file: its JSON, read as strictly as the format allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/io/safetensors.h"
#include "framework/io/safetensors_layout_internal.h"

namespace gradus::safetensors {

struct Header {
  std::vector<Entry> entries;
  Metadata metadata;
};

/// Longer headers are refused, as by the reference reader.
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;

/// Reads the JSON; every entry was checked, and no name comes twice. Throws IoError.
Header parse_header(std::string_view json, const std::string& file);

/// The JSON, in the order of the entries, with spaces up to a multiple of 8. Throws ValueError.
std::string header_json(const Header& header);

}  // namespace gradus::safetensors
