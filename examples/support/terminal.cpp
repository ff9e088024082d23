#include "examples/support/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace examples {
namespace {

constexpr int kDefaultWidth = 80;
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

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

Terminal::Terminal(int file)
    : file_(file),
      redraws_(isatty(file) == 1 && !environment("TERM").empty() && environment("TERM") != "dumb"),
      colors_(wants_colors(redraws_)),
      unicode_(locale_is_utf8()) {}

int Terminal::width() const {
  winsize window{};
  const bool known = ioctl(file_, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return known ? window.ws_col : kDefaultWidth;
}

std::string Terminal::colored(int color, const std::string& text) const {
  if (!colors_ || text.empty()) return text;
  return "\x1b[38;5;" + std::to_string(color) + "m" + text + "\x1b[0m";
}

int columns(std::string_view text) {
  int count = 0;
  bool in_escape = false;
  for (const char c : text) {
    if (c == kEscape) in_escape = true;
    if (!in_escape && starts_character(c)) ++count;
    if (c == 'm') in_escape = false;
  }
  return count;
}

}  // namespace examples
