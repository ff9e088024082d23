// Live area: lines at the bottom of a terminal that are drawn again in place.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace examples {

class LiveArea {
 public:
  /// On stderr.
  explicit LiveArea(const Terminal& terminal) : terminal_(terminal) {}

  /// How wide lines may be. One column stays free, or the cursor could wrap.
  int width() const;
  /// Puts these lines in place of those drawn before, in one piece, so that nothing flickers.
  void draw(const std::vector<std::string>& lines);

 private:
  const Terminal& terminal_;
  std::vector<int> drawn_columns_;  // of each line on the screen
  int drawn_window_ = 0;            // how wide the window was then
};

}  // namespace examples
