#include "tests/docs/quotes.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace gradus::testing {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line.erase(line.find_last_not_of(" \r") + 1);
    lines.push_back(line);
  }
  return lines;
}

/// The lines without the indentation that all of them have.
Lines dedented(Lines lines) {
  std::size_t indent = std::string::npos;
  for (const std::string& line : lines) {
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  }
  for (std::string& line : lines) {
    if (!line.empty()) line.erase(0, indent);
  }
  return lines;
}

}  // namespace

std::vector<Quote> quotes_in(const std::string& document) {
  const std::regex source("<!-- quoted from ([^ ,]+), (.+) -->");
  const Lines lines = lines_of(document);
  std::vector<Quote> quotes;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != "```cpp") continue;
    Quote quote;
    quote.line = i + 1;
    std::smatch match;
    if (i > 0 && std::regex_match(lines[i - 1], match, source)) {
      quote.file = match[1];
      quote.anchor = match[2];
    }
    for (++i; i < lines.size() && lines[i] != "```"; ++i) quote.excerpt += lines[i] + "\n";
    quotes.push_back(quote);
  }
  return quotes;
}

bool stands_in(const Quote& quote, const std::string& source) {
  const Lines wanted = dedented(lines_of(quote.excerpt));
  const Lines lines = lines_of(source);
  auto start = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(quote.anchor) != std::string::npos;
  });
  for (; lines.end() - start >= std::ssize(wanted); ++start) {
    if (dedented({start, start + std::ssize(wanted)}) == wanted) return true;
  }
  return false;
}

}  // namespace gradus::testing
