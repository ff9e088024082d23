// Files, whole: read into memory, and replaced in one step, so that a reader finds the old contents
// or the new ones and nothing between.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace gradus {

/// The bytes of a file as they are, or only the first `most` of them. Throws IoError.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// Makes or replaces a file: the bytes are written beside it, under its name with ".NUMBERS.tmp"
/// behind, brought to the disk, and renamed. Whenever the program or the machine stops, the file is
/// whole, with the old contents or the new. Throws IoError, and then leaves nothing behind; only a
/// program that was killed while it wrote leaves such a .tmp file. The file keeps its permissions;
/// a link stays, and the file that it leads to is replaced; pipes and devices are written to.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace gradus
