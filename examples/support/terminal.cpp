#include "examples/support/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>

#include "examples/support/utf8.h"

namespace examples {
namespace {

constexpr char kEscape = '\x1b';

/// The variable's value, empty where it is not set.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The first of these that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    locale = environment(name);
    if (!locale.empty()) break;
  }
  std::transform(locale.begin(), locale.end(), locale.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

bool wants_colors(bool terminal) {
  if (!environment("NO_COLOR").empty()) return false;
  const std::string forced = environment("CLICOLOR_FORCE");
  return terminal || (!forced.empty() && forced != "0");
}

struct CodePoints {
  char32_t first;
  char32_t last;
};

/// Marks that are drawn over the character before.
constexpr CodePoints kNoColumns[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
/// Letters of East Asia, and pictures.
constexpr CodePoints kTwoColumns[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},  {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60},
                                      {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

int columns_of(char32_t point) {
  const auto holds = [point](const CodePoints& range) {
    return point >= range.first && point <= range.last;
  };
  if (std::any_of(std::begin(kNoColumns), std::end(kNoColumns), holds)) return 0;
  return std::any_of(std::begin(kTwoColumns), std::end(kTwoColumns), holds) ? 2 : 1;
}

}  // namespace

Terminal::Terminal(int file)
    : file_(file),
      redraws_(isatty(file) == 1 && !environment("TERM").empty() && environment("TERM") != "dumb"),
      colors_(wants_colors(redraws_)),
      unicode_(locale_is_utf8()) {}

Window Terminal::window() const {
  winsize size{};
  Window window;
  if (ioctl(file_, TIOCGWINSZ, &size) != 0) return window;
  if (size.ws_col > 0) window.columns = size.ws_col;
  if (size.ws_row > 0) window.rows = size.ws_row;
  return window;
}

std::string Terminal::colored(int color, const std::string& text) const {
  if (!colors_ || text.empty()) return text;
  return "\x1b[38;5;" + std::to_string(color) + "m" + text + "\x1b[0m";
}

int columns(std::string_view text) {
  int count = 0;
  bool in_escape = false;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    if (character.front() == kEscape) in_escape = true;
    if (!in_escape) count += columns_of(code_point(character));
    if (character == "m") in_escape = false;
    text.remove_prefix(character.size());
  }
  return count;
}

}  // namespace examples
