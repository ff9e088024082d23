// UTF-8: text as characters. A character is a code point; a byte that belongs to none, as in a file
// that is not UTF-8, is a character of its own, so that no byte is ever lost.
#pragma once

#include <string>
#include <string_view>

namespace examples {

/// The first character of a text that is not empty: 1 to 4 bytes of it.
std::string_view first_character(std::string_view text);

/// Whether it is a byte that is no UTF-8.
bool is_stray_byte(std::string_view character);

/// Its code point; U+FFFD for a stray byte.
char32_t code_point(std::string_view character);

/// The same text with U+FFFD in place of every stray byte.
std::string valid_utf8(std::string_view text);

}  // namespace examples
