#include "examples/support/text_layout.h"

#include <algorithm>

#include "examples/support/terminal.h"
#include "examples/support/utf8.h"

namespace examples {

std::string repeated(const std::string& piece, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += piece;
  return all;
}

std::string padded(const std::string& text, int width) {
  return text + repeated(" ", width - columns(text));
}

std::string cut_to(const std::string& text, int width) {
  if (columns(text) <= width) return text;
  std::string kept;
  int taken = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = first_character(rest);
    taken += columns(character);
    if (taken > width) break;
    kept += character;
    rest.remove_prefix(character.size());
  }
  return kept;
}

std::vector<std::string> flow(const std::vector<std::string>& fields, const FlowOptions& options) {
  const int indent = columns(options.label);
  std::vector<std::string> lines;
  for (const std::string& field : fields) {
    if (field.empty()) continue;
    const bool fits =
        !lines.empty() &&
        columns(lines.back()) + columns(options.between) + columns(field) <= options.width;
    if (fits) {
      lines.back() += options.between + field;
    } else {
      const std::string start = lines.empty() ? options.label : repeated(" ", indent);
      lines.push_back(start + cut_to(field, std::max(options.width - indent, 1)));
    }
  }
  return lines;
}

}  // namespace examples
