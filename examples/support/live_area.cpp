#include "examples/support/live_area.h"

#include <algorithm>
#include <cstdio>

#include "examples/support/format.h"

namespace examples {

int LiveArea::width() const { return std::max(terminal_.width() - 1, 1); }

// Goes back over what it drew before and writes over it. A window made narrower has broken the old
// lines into several. The cursor rests on the line below, where the ^C of an interrupt does no
// harm.
void LiveArea::draw(const std::vector<std::string>& lines) {
  const int window = terminal_.width();
  int rows_up = 0;
  for (const int length : drawn_columns_) rows_up += 1 + std::max(length - 1, 0) / window;

  std::string output = "\r";
  if (rows_up > 0) output += format("\x1b[%dA", rows_up);
  if (window != drawn_window_) output += "\x1b[J";  // whatever the old lines have become
  drawn_window_ = window;
  drawn_columns_.clear();
  for (const std::string& line : lines) {
    output += line + "\x1b[K\n";  // and no rest of a longer line
    drawn_columns_.push_back(columns(line));
  }
  output += "\x1b[J";  // and no rest of more lines
  std::fwrite(output.data(), 1, output.size(), stderr);
}

}  // namespace examples
