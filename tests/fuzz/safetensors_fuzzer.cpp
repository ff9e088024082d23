// A fuzzer of the reader of safetensors files: any bytes are a file or an IoError. Another
// exception, a report of a sanitizer, or a file that does not come back from the writer as it was
// read is a finding.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <typeinfo>

#include "framework/core/error.h"
#include "framework/io/safetensors.h"

namespace gradus::fuzz {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::abort();
}

bool is_same(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  const auto bytes = static_cast<std::size_t>(a.numel() * a.itemsize());
  return std::memcmp(a.raw(), b.raw(), bytes) == 0;
}

void check_writer(const Safetensors& file) {
  const Safetensors again =
      parse_safetensors(safetensors_bytes(file.tensors, file.metadata), "written");
  if (again.metadata != file.metadata) fail("other text was written");
  if (again.tensors.size() != file.tensors.size()) fail("another number of tensors was written");
  for (const auto& [name, tensor] : file.tensors) {
    if (!is_same(again.tensors.at(name), tensor)) fail("tensor '" + name + "' was written anew");
  }
}

void run(std::string_view bytes) {
  Safetensors file;
  try {
    file = parse_safetensors(bytes, "file");
  } catch (const Error& error) {
    const std::string_view said = error.what();
    if (typeid(error) != typeid(IoError)) fail("not an IoError: " + std::string(said));
    if (!said.starts_with("load: file")) fail("an error says '" + std::string(said) + "'");
    return;
  }
  check_writer(file);
}

/// The same bytes with the length that their header seems to have: a fuzzer seldom guesses that.
std::string with_length(std::string_view bytes) {
  const std::size_t end = bytes.rfind("}}");
  if (bytes.size() < 8 || end == std::string_view::npos || end < 8) return "";
  std::uint64_t length = end + 2 - 8;
  std::string result(bytes);
  for (std::size_t i = 0; i < 8; ++i, length >>= 8) result[i] = static_cast<char>(length & 0xFF);
  return result;
}

}  // namespace
}  // namespace gradus::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  gradus::fuzz::run(bytes);
  gradus::fuzz::run(gradus::fuzz::with_length(bytes));
  return 0;
}
