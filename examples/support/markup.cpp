#include "examples/support/markup.h"

#include "examples/support/utf8.h"

namespace examples {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_allowed(std::string_view character) {
  if (is_stray_byte(character)) return false;
  const char32_t point = code_point(character);
  const bool is_blank = point == '\n' || point == '\t' || point == '\r';
  return is_blank || (point >= 0x20 && point != 0x7F && point != 0xFFFE && point != 0xFFFF);
}

std::string_view entity(std::string_view character) {
  switch (character[0]) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return character;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    result += is_allowed(character) ? entity(character) : kReplacement;
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace examples
