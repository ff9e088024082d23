#include <algorithm>
#include <limits>
#include <optional>

#include "framework/core/error.h"
#include "framework/io/printable_internal.h"
#include "framework/io/safetensors_layout_internal.h"

namespace gradus::safetensors {
namespace {

constexpr std::size_t kMostNames = 3;  // in an error

/// Elements of a shape, the strides of which must not overflow either; nothing where they do.
std::optional<std::uint64_t> checked_count(const std::vector<std::uint64_t>& shape) {
  constexpr std::uint64_t limit = std::numeric_limits<Index>::max() / 8;
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    if (size > limit / count) return std::nullopt;
    count *= std::max<std::uint64_t>(size, 1);
  }
  return std::count(shape.begin(), shape.end(), 0) > 0 ? 0 : count;
}

std::string names_beyond(const std::vector<Entry>& entries, std::uint64_t end) {
  std::string names;
  std::size_t count = 0;
  for (const Entry& entry : entries) {
    if (entry.end <= end || ++count > kMostNames) continue;
    names += (names.empty() ? "" : ", ") + printable(entry.name);
  }
  return count > kMostNames ? text(names, " and ", count - kMostNames, " more") : names;
}

}  // namespace

Entry checked_entry(const WrittenEntry& written, const std::string& file) {
  const auto fail = [&](const std::string& what, const std::string& need = "") {
    damaged(file, "tensor '" + printable(written.name) + "' " + what, need);
  };
  const FileType* const type = find_type(written.dtype);
  if (!type) fail("has an unknown dtype '" + printable(written.dtype) + "'");
  if (!type->dtype) {
    throw IoError(text("load: ", file, ": tensor '", printable(written.name), "' is ",
                       written.dtype, ", which cannot be read"),
                  {.need = "F64 F32 F16 BF16 I64 I32 I16 I8 U32 U16 U8 BOOL"});
  }
  const auto count = checked_count(written.shape);
  if (!count) fail("has a shape of too many elements: " + listed(written.shape));
  if (written.offsets.size() != 2) {
    fail(text("has ", written.offsets.size(), " data_offsets"), "two: begin and end");
  }
  const std::uint64_t begin = written.offsets[0];
  const std::uint64_t end = written.offsets[1];
  const std::uint64_t bytes = *count * type->bytes;
  const std::string given = "has data_offsets " + listed(written.offsets);
  if (begin > end) fail(given, "begin <= end");
  if (end - begin != bytes) {
    fail(given, text(bytes, " bytes, for ", listed(written.shape), " ", written.dtype));
  }
  Shape shape;
  for (const std::uint64_t size : written.shape) shape.push_back(static_cast<Index>(size));
  return {written.name, type, shape, begin, end};
}

void check_layout(std::vector<Entry>& entries, std::uint64_t start, std::uint64_t size,
                  const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end) {
      damaged(file,
              text("tensor '", printable(entry.name), "' begins at ", entry.begin,
                   " of the data, where the one before it ends at ", end),
              "no gap and no overlap");
    }
    end = entry.end;
  }
  if (end == size - start) return;
  const std::string promise = text(size, " bytes; its header promises ", start + end);
  if (end < size - start) {
    throw IoError("load: " + file + " has bytes to spare", {.got = promise});
  }
  throw IoError("load: " + file + " is cut short",
                {.got = promise + "; missing: " + names_beyond(entries, size - start)});
}

std::string listed(std::span<const std::uint64_t> numbers, const char* divider) {
  std::string list;
  for (const std::uint64_t number : numbers) list += text(list.empty() ? "" : divider, number);
  return "[" + list + "]";
}

void damaged(const std::string& file, const std::string& what, const std::string& need) {
  throw IoError("load: " + file + " is damaged: " + what, {.need = need});
}

}  // namespace gradus::safetensors
