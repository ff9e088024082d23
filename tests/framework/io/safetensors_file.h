// Safetensors files made by hand, for tests of what a writer would never write.
#pragma once

#include <cstdint>
#include <string>

namespace gradus::testing {

inline std::string length_bytes(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> 8 * i & 0xFF);
  return bytes;
}

inline std::string file_of(const std::string& header, const std::string& data = "") {
  return length_bytes(header.size()) + header + data;
}

inline std::string header_of(const std::string& file) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(file[i]);
  return file.substr(8, length);
}

inline std::string data_of(const std::string& file) {
  return file.substr(8 + header_of(file).size());
}

}  // namespace gradus::testing
