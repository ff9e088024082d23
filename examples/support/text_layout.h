// Text layout: fields on as few lines as fit, and pieces of text of a given width.
#pragma once

#include <string>
#include <vector>

namespace examples {

/// The same piece so many times; nothing for a negative number.
std::string repeated(const std::string& piece, int count);

/// With spaces behind it up to `width` columns.
std::string padded(const std::string& text, int width);

/// The text, or as many of its first characters as take `width` columns. Colours are kept out of
/// it.
std::string cut_to(const std::string& text, int width);

struct FlowOptions {
  int width;
  std::string label{};  ///< stands before the first line; the others are indented as far
  std::string between = "  ";
};

/// The fields one after another, on as many lines as they need. A field that is wider than a line
/// is cut. Empty fields are left out.
std::vector<std::string> flow(const std::vector<std::string>& fields, const FlowOptions& options);

}  // namespace examples
