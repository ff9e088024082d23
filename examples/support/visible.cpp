#include "examples/support/visible.h"

#include "examples/support/format.h"
#include "examples/support/utf8.h"

namespace examples {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Characters without a shape of their own: controls, combining marks, spaces of other widths,
/// joiners, marks of direction, separators of lines, the byte-order mark, selectors and tags.
constexpr Range kShapeless[] = {{0x80, 0xA0},     {0xAD, 0xAD},     {0x300, 0x36F},
                                {0x61C, 0x61C},   {0x180E, 0x180E}, {0x2000, 0x200F},
                                {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},
                                {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}};

bool is_shapeless(char32_t point) {
  for (const Range& range : kShapeless) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

/// The picture of a control character: U+2400 and the ones behind it.
std::string picture(char32_t control) {
  const char32_t point = control == 0x7F ? 0x2421 : 0x2400 + control;
  return {'\xE2', '\x90', static_cast<char>(0x80 + (point - 0x2400))};
}

std::string numbered(char32_t point) {
  return format(point > 0xFFFF ? "\\U%08X" : "\\u%04X", static_cast<unsigned>(point));
}

std::string in_ascii(char32_t point) {
  if (point == '\n') return "\\n";
  if (point == '\t') return "\\t";
  if (point == '\r') return "\\r";
  return point < 0x80 ? format("\\x%02X", static_cast<unsigned>(point)) : numbered(point);
}

std::string visible_character(std::string_view character, bool unicode) {
  if (is_stray_byte(character)) {
    return format("\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(character[0])));
  }
  const char32_t point = code_point(character);
  if (point == ' ') return unicode ? "␣" : "_";
  if (point > ' ' && point < 0x7F) return std::string(character);
  if (!unicode) return in_ascii(point);
  if (point == '\n') return "⏎";
  if (point < 0x80) return picture(point);
  return is_shapeless(point) ? numbered(point) : std::string(character);
}

}  // namespace

std::string visible(std::string_view token, bool unicode) {
  std::string shown;
  while (!token.empty()) {
    const std::string_view character = first_character(token);
    shown += visible_character(character, unicode);
    token.remove_prefix(character.size());
  }
  return shown;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    const char32_t point = code_point(character);
    const bool is_blank = point == '\n' || point == '\r' || point == '\t';
    const bool is_control = point < 0x20 || (point >= 0x7F && point < 0xA0);
    shown += is_control && !is_blank ? visible_character(character, true) : valid_utf8(character);
    text.remove_prefix(character.size());
  }
  return shown;
}

std::vector<std::string> visible(const std::vector<std::string>& tokens, bool unicode) {
  std::vector<std::string> shown;
  for (const std::string& token : tokens) shown.push_back(visible(token, unicode));
  return shown;
}

}  // namespace examples
