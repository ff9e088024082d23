// Live area: lines at the bottom of a terminal that are drawn again in place.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace examples {

class LiveArea {
 public:
  /// What to write, in one piece so that nothing flickers, to have these lines in place of those of
  /// the call before. They must be narrower than the window, or the cursor could wrap. Lines that a
  /// low window has no room for are left out: it would scroll, and there would be no way back to
  /// the first line.
  std::string drawn(std::vector<std::string> lines, const Window& window);

 private:
  std::vector<int> drawn_columns_;  // of each line on the screen
  int drawn_window_ = 0;            // how wide the window was then
};

}  // namespace examples
