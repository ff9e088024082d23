#include "examples/support/utf8.h"

#include <cstddef>

namespace examples {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool continues(std::string_view text, std::size_t i) {
  return i < text.size() && (byte_at(text, i) & 0xC0U) == 0x80U;
}

/// How many bytes the lead byte promises; 0 for one that leads nothing.
std::size_t promised_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

char32_t decoded(std::string_view bytes) {
  constexpr unsigned kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t point = byte_at(bytes, 0) & kLeadBits[bytes.size()];
  for (std::size_t i = 1; i < bytes.size(); ++i) point = (point << 6) | (byte_at(bytes, i) & 0x3FU);
  return point;
}

/// No code point may be written longer than it has to be, be half of a pair of UTF-16, or lie
/// beyond the last one.
bool is_allowed(char32_t point, std::size_t length) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  return point >= kLeast[length] && point <= 0x10FFFF && !is_surrogate;
}

}  // namespace

std::string_view first_character(std::string_view text) {
  const std::size_t length = promised_length(byte_at(text, 0));
  if (length <= 1) return text.substr(0, 1);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text, i)) return text.substr(0, 1);
  }
  const std::string_view character = text.substr(0, length);
  return is_allowed(decoded(character), length) ? character : text.substr(0, 1);
}

bool is_stray_byte(std::string_view character) {
  return character.size() == 1 && byte_at(character, 0) >= 0x80;
}

char32_t code_point(std::string_view character) {
  return is_stray_byte(character) ? kReplacement : decoded(character);
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    valid += is_stray_byte(character) ? std::string_view("\xEF\xBF\xBD") : character;
    text.remove_prefix(character.size());
  }
  return valid;
}

}  // namespace examples
