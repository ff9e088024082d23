// Terminal: what the other end of stdout or stderr can show. NO_COLOR, CLICOLOR_FORCE and TERM=dumb
// are honoured; without a UTF-8 locale all is ASCII.
#pragma once

#include <string>
#include <string_view>

namespace examples {

/// In characters, and where there is no window what many have.
struct Window {
  int columns = 80;
  int rows = 24;
};

class Terminal {
 public:
  /// Of a file descriptor: 1 is stdout, 2 is stderr.
  explicit Terminal(int file);

  /// Whether lines can be drawn again in place; false for a pipe, a file, a dumb terminal.
  bool redraws() const { return redraws_; }
  bool unicode() const { return unicode_; }
  /// From now on only ASCII, whatever the locale.
  void use_ascii() { unicode_ = false; }
  /// Asked anew each time, since windows change.
  Window window() const;
  int width() const { return window().columns; }
  /// The text in one of the 256 colours, where colours are wanted.
  std::string colored(int color, const std::string& text) const;
  /// The first text, or the second where only ASCII can be shown.
  std::string pick(const char* unicode, const char* ascii) const {
    return unicode_ ? unicode : ascii;
  }

 private:
  int file_;
  bool redraws_;
  bool colors_;
  bool unicode_;
};

/// The columns that a text takes: two for each letter of East Asia, none for colours.
int columns(std::string_view text);

}  // namespace examples
