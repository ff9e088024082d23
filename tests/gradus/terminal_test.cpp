// What the program does to a terminal: it draws in place, so nothing may wrap or scroll, whatever
// the size of the window.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "examples/support/live_area.h"
#include "examples/support/utf8.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"

using namespace examples;
using namespace gradus::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// Understands as much of what terminals do as the program asks of them.
class Screen {
 public:
  explicit Screen(const Window& window) : window_(window) {}

  void write(std::string_view output) {
    while (!output.empty()) {
      const std::string_view piece = output.front() == '\x1b'
                                         ? output.substr(0, output.find_first_of("AJKm") + 1)
                                         : first_character(output);
      if (piece.size() > 1 && piece.front() == '\x1b') {
        obey(piece);
      } else {
        put(piece);
      }
      output.remove_prefix(piece.size());
    }
  }

  int wraps() const { return wraps_; }
  int scrolls() const { return scrolls_; }
  int lowest() const { return lowest_; }
  /// How often all of it was erased.
  int clears() const { return clears_; }

 private:
  void obey(std::string_view escape) {
    if (escape.back() == 'A') row_ = std::max(0, row_ - std::stoi(std::string(escape.substr(2))));
    if (escape == "\x1b[2J" || escape == "\x1b[H") ++clears_;
  }
  void put(std::string_view character) {
    if (character == "\r") {
      column_ = 0;
    } else if (character == "\n") {
      const bool scrolls = row_ + 1 == window_.rows;
      scrolls ? ++scrolls_ : ++row_;
      lowest_ = std::max(lowest_, row_);
    } else if (++column_ >= window_.columns) {
      ++wraps_;
    }
  }

  Window window_;
  int row_ = 0;
  int column_ = 0;
  int lowest_ = 0;
  int wraps_ = 0;
  int scrolls_ = 0;
  int clears_ = 0;
};

/// False, with a warning, where /dev/pts is missing, as in some containers.
bool has_terminals() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  const bool works = terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0;
  const char* name = works ? ptsname(terminal) : nullptr;
  const int other_end = name ? open(name, O_RDWR | O_NOCTTY) : -1;
  if (other_end < 0) WARN("there are no pseudo-terminals here");
  if (other_end >= 0) close(other_end);
  if (terminal >= 0) close(terminal);
  return other_end >= 0;
}

/// What the program writes to stderr where that is a terminal of this size.
std::string written_to_terminal(const ScratchFolder& folder, const Window& window,
                                const std::string& arguments, const std::string& environment) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE((grantpt(terminal) == 0 && unlockpt(terminal) == 0));
  const std::string name = ptsname(terminal);
  const int kept_open = open(name.c_str(), O_RDWR | O_NOCTTY);
  const winsize size{static_cast<unsigned short>(window.rows),
                     static_cast<unsigned short>(window.columns), 0, 0};
  REQUIRE(ioctl(terminal, TIOCSWINSZ, &size) == 0);

  std::string written;
  std::thread reader([&] {
    std::array<char, 4096> buffer{};
    for (ssize_t count = 0; (count = read(terminal, buffer.data(), buffer.size())) > 0;) {
      written.append(buffer.data(), static_cast<std::size_t>(count));
    }
  });
  const std::string command = "cd '" + folder.path().string() + "' && env " + environment + " " +
                              runnable(GRADUS_PROGRAM) + " " + arguments + " >stdout 2>" + name;
  const int status = std::system(command.c_str());
  close(kept_open);  // which ends the reader
  reader.join();
  close(terminal);
  CHECK(status == 0);
  return written;
}

const std::string kShortRun =
    "train sort --steps 150 --batch 4 --width 8 --heads 2 --layers 1 --train-samples 40 "
    "--held-out 20 --evaluate-every 20 --checkpoint-every 50 --overwrite --out r ";

}  // namespace

TEST_CASE("a live area is drawn in place, in one piece", "[gradus][terminal]") {
  LiveArea area;
  CHECK(area.drawn({"one", "two"}, {80, 24}) == "\r\x1b[Jone\ntwo\n\x1b[J");
  CHECK(area.drawn({"six", "four"}, {80, 24}) == "\r\x1b[2Asix\nfour\n\x1b[J");
  // tmux counts what was once written as part of the line, unless all of it is erased.
  CHECK(area.drawn({"six", "two"}, {80, 24}) == "\r\x1b[2Asix\n\x1b[2Ktwo\n\x1b[J");
  CHECK(area.drawn({"six"}, {80, 24}) == "\r\x1b[2Asix\n\x1b[J");
}

TEST_CASE("a live area is never higher than the window", "[gradus][terminal]") {
  LiveArea area;
  CHECK(area.drawn({"a", "b", "c", "d"}, {80, 3}) == "\r\x1b[Ja\nb\n\x1b[J");
  CHECK(area.drawn({"a", "b", "c", "d"}, {80, 3}) == "\r\x1b[2Aa\nb\n\x1b[J");
  CHECK(area.drawn({"a", "b"}, {80, 1}) == "\r\x1b[2Aa\n\x1b[J");
}

TEST_CASE("a live area finds its start in a window that was made narrower", "[gradus][terminal]") {
  LiveArea area;
  const std::string colored = "\x1b[38;5;36m" + std::string(20, '=') + "\x1b[0m";
  area.drawn({std::string(79, 'x'), colored, std::string(40, 'x')}, {80, 24});
  // In 20 columns the three lines have become 4, 1 and 2.
  CHECK_THAT(area.drawn({"x"}, {20, 24}), StartsWith("\r\x1b[7A\x1b[J"));
}

TEST_CASE("training neither wraps nor scrolls a terminal", "[gradus][terminal]") {
  if (!has_terminals()) return;
  const ScratchFolder folder;
  for (const Window window : {Window{120, 24}, Window{80, 24}, Window{60, 24}, Window{33, 24},
                              Window{12, 40}, Window{80, 6}, Window{1, 1}}) {
    INFO(window.columns << " x " << window.rows);
    const std::string written =
        written_to_terminal(folder, window, kShortRun, "TERM=xterm LC_ALL=C.UTF-8");
    CHECK_THAT(written, ContainsSubstring("\x1b["));
    Screen screen(window);
    // Behind the last frame a line is left free.
    screen.write(std::string_view(written).substr(0, written.size() - 2));
    CHECK(screen.clears() == 0);
    if (window.columns < 2) continue;  // too few for a character and the cursor
    CHECK(screen.wraps() == 0);
    CHECK(screen.scrolls() == 0);
    CHECK(screen.lowest() > 0);
  }
}

TEST_CASE("a dumb terminal gets plain lines, and NO_COLOR none in colour", "[gradus][terminal]") {
  if (!has_terminals()) return;
  const ScratchFolder folder;
  const Window window{80, 24};
  const std::string dumb = written_to_terminal(folder, window, kShortRun, "TERM=dumb LC_ALL=C");
  CHECK(dumb.find('\x1b') == std::string::npos);
  CHECK_THAT(dumb, ContainsSubstring("step=150/150"));
  const std::string plain =
      written_to_terminal(folder, window, kShortRun, "TERM=xterm NO_COLOR=1 LC_ALL=C");
  CHECK(plain.find("\x1b[38") == std::string::npos);
  CHECK_THAT(plain, ContainsSubstring("####"));
  CHECK(std::all_of(plain.begin(), plain.end(), [](char c) { return c >= 0; }));
}
