#include "examples/support/live_area.h"

#include <algorithm>

#include "examples/support/format.h"

namespace examples {

// Goes back over what was drawn before and writes over it. A window made narrower has broken the
// old lines into several. The cursor rests on the line below, where the ^C of an interrupt does no
// harm.
std::string LiveArea::drawn(std::vector<std::string> lines, const Window& window) {
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(std::max(window.rows - 1, 1))));
  int rows_up = 0;
  for (const int length : drawn_columns_) rows_up += 1 + std::max(length - 1, 0) / window.columns;

  std::string output = "\r";
  if (rows_up > 0) output += format("\x1b[%dA", rows_up);
  if (window.columns != drawn_window_) {
    output += "\x1b[J";  // whatever the old lines have become
    drawn_columns_.clear();
  }
  drawn_window_ = window.columns;
  drawn_columns_.resize(lines.size(), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int length = columns(lines[i]);
    // Where a line was longer, only erased as a whole does it count as a shorter one when the
    // window breaks it (tmux).
    if (length < drawn_columns_[i]) output += "\x1b[2K";
    output += lines[i] + "\n";
    drawn_columns_[i] = length;
  }
  return output + "\x1b[J";  // and no rest of more lines
}

}  // namespace examples
