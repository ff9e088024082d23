// Names from files as errors show them: a file may hold any text as a name.
#pragma once

#include <string>
#include <string_view>

namespace gradus {

/// The name without control characters, each shown as '?', and cut after 100 bytes.
inline std::string printable(std::string_view name) {
  constexpr std::size_t most = 100;
  std::size_t length = name.size() > most ? most : name.size();
  // Not within a character of UTF-8.
  while (length < name.size() && length > 0 && (name[length] & 0xC0) == 0x80) --length;
  std::string shown;
  for (const char c : name.substr(0, length)) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    shown += control ? '?' : c;
  }
  return length < name.size() ? shown + "..." : shown;
}

}  // namespace gradus
