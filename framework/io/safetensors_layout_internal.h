// Where the tensors of a safetensors file lie: what the header says of each, checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/io/safetensors_types_internal.h"

namespace gradus::safetensors {

/// A tensor of the header as it is written there: the right fields of the right types, no more.
struct WrittenEntry {
  std::string name;
  std::string dtype{};
  std::vector<std::uint64_t> shape{};
  std::vector<std::uint64_t> offsets{};
};

/// The same when its type can be read and its bytes, begin .. end-1 of the data, are as many as its
/// shape needs.
struct Entry {
  std::string name;
  const FileType* type = nullptr;
  Shape shape{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Throws IoError for an entry whose fields do not fit together.
Entry checked_entry(const WrittenEntry& written, const std::string& file);

/// Sorts the entries by their place. Throws IoError unless they cover the data without gap or
/// overlap, from its start in the file to the file's end at `size`.
void check_layout(std::vector<Entry>& entries, std::uint64_t start, std::uint64_t size,
                  const std::string& file);

/// Numbers as a list of JSON.
std::string listed(std::span<const std::uint64_t> numbers, const char* divider = ", ");

/// Refuses a damaged header: "load: FILE is damaged: WHAT".
[[noreturn]] void damaged(const std::string& file, const std::string& what,
                          const std::string& need = "");

}  // namespace gradus::safetensors
