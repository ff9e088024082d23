#include "framework/io/safetensors.h"

#include <algorithm>

#include "framework/core/error.h"
#include "framework/io/file.h"
#include "framework/io/printable_internal.h"
#include "framework/io/safetensors_header_internal.h"

namespace gradus {
namespace {

using safetensors::Entry;
using safetensors::Header;

constexpr std::uint64_t kLengthBytes = 8;  // of the length of the header

std::uint64_t length_of_header(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

std::string bytes_of_header(std::uint64_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes += static_cast<char>(length >> 8 * i & 0xFF);
  }
  return bytes;
}

/// Where the data of a file of `size` bytes starts, by its first eight.
std::uint64_t start_of_data(std::string_view bytes, std::uint64_t size, const std::string& file) {
  if (bytes.starts_with("version https")) {
    throw IoError("load: " + file + " is the pointer that Git LFS keeps in the file's place",
                  {.hint = "git lfs pull"});
  }
  if (std::min<std::uint64_t>(size, bytes.size()) < kLengthBytes) {
    throw IoError("load: " + file + " is cut short",
                  {.got = text(size, " bytes; the length of its header alone takes 8")});
  }
  const std::uint64_t length = length_of_header(bytes);
  if (length > safetensors::kMostHeaderBytes) {
    throw IoError("load: " + file + " is no safetensors file",
                  {.got = text("a header of ", length, " bytes, by its first 8"),
                   .need = text("at most ", safetensors::kMostHeaderBytes)});
  }
  if (length > size - kLengthBytes) {
    throw IoError("load: " + file + " is cut short",
                  {.got = text(size, " bytes; its header ends at ", kLengthBytes + length)});
  }
  return kLengthBytes + length;
}

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw IoError("load: cannot read " + path.string() + ": " + error.message());
  return size;
}

std::uint64_t start_of_data(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, 64);  // enough to know a pointer by
  return start_of_data(bytes, size_of(path), path.string());
}

/// Reads and checks the header at the start of a file of `size` bytes.
Header checked_header(std::string_view bytes, std::uint64_t start, std::uint64_t size,
                      const std::string& file) {
  Header header = safetensors::parse_header(bytes.substr(kLengthBytes, start - kLengthBytes), file);
  safetensors::check_layout(header.entries, start, size, file);
  return header;
}

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, const std::string& file) {
  const std::uint64_t start = start_of_data(bytes, bytes.size(), file);
  Header header = checked_header(bytes, start, bytes.size(), file);
  Safetensors result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (const Entry& entry : header.entries) {
    const Tensor tensor =
        safetensors::tensor_from(*entry.type, bytes.data() + start + entry.begin, entry.shape);
    if (!tensor.defined()) {
      safetensors::damaged(file, "tensor '" + printable(entry.name) + "' is not of bools",
                           "bytes that are 0 or 1");
    }
    result.tensors.emplace(entry.name, tensor);
  }
  return result;
}

Safetensors load_safetensors(const std::filesystem::path& path) {
  start_of_data(path);  // so that no large file of another kind is read
  return parse_safetensors(read_file(path), path.string());
}

Metadata load_safetensors_metadata(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::uint64_t start = start_of_data(path);
  const std::string head = read_file(path, start);
  start_of_data(head, head.size(), file);  // all of it is still there
  return checked_header(head, start, size_of(path), file).metadata;
}

std::string safetensors_bytes(const StateDict& tensors, const Metadata& metadata) {
  Header header{.entries = {}, .metadata = metadata};
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) throw ValueError("save: tensor '" + name + "' is undefined");
    header.entries.push_back({name, &safetensors::type_of(tensor.dtype()), tensor.shape()});
  }
  // The widest first: then all are aligned, since the header ends at a multiple of 8.
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.type->bytes > b.type->bytes; });
  std::uint64_t end = 0;
  for (Entry& entry : header.entries) {
    entry.begin = end;
    end += static_cast<std::uint64_t>(element_count(entry.shape)) * entry.type->bytes;
    entry.end = end;
  }

  const std::string json = safetensors::header_json(header);
  if (json.size() > safetensors::kMostHeaderBytes) {
    throw ValueError(text("save: a header of ", json.size(), " bytes is too long"),
                     {.need = text("at most ", safetensors::kMostHeaderBytes)});
  }
  std::string bytes = bytes_of_header(json.size()) + json;
  bytes.reserve(bytes.size() + end);
  for (const Entry& entry : header.entries) {
    const Tensor tensor = tensors.at(entry.name).detach().contiguous();
    bytes.append(static_cast<const char*>(tensor.raw()), entry.end - entry.begin);
  }
  return bytes;
}

void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const Metadata& metadata) {
  write_file(path, safetensors_bytes(tensors, metadata));
}

}  // namespace gradus
