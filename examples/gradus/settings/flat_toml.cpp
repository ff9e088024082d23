#include "examples/gradus/settings/flat_toml.h"

#include <sstream>
#include <string_view>

#include "examples/support/exit_code.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::text;

constexpr const char* kBlanks = " \t\r";
constexpr const char* kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// Reads one line from left to right.
class LineReader {
 public:
  LineReader(std::string_view line, const std::string& place) : rest_(line), place_(place) {}

  /// Passes blanks. True where a comment or nothing follows.
  bool at_end() {
    const std::size_t start = rest_.find_first_not_of(kBlanks);
    rest_ = start == std::string_view::npos ? "" : rest_.substr(start);
    return rest_.empty() || rest_.front() == '#';
  }

  std::string name() {
    if (rest_.front() == '[') fail("tables and lists are not read");
    const std::string found = take(rest_.find_first_not_of(kNameCharacters));
    if (found.empty()) fail("a line starts with the name of a setting");
    if (at_end() || rest_.front() != '=') fail("'" + found + "' is not followed by =");
    rest_.remove_prefix(1);
    return found;
  }

  std::string value() {
    if (at_end()) fail("the value is missing");
    if (rest_.front() == '[' || rest_.front() == '{') fail("tables and lists are not read");
    const char first = rest_.front();
    const std::string found = first == '"' ? quoted() : first == '\'' ? literal() : bare();
    if (!at_end()) fail("there is more behind the value: '" + std::string(rest_) + "'");
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Failure(kData,
                  place_ + ": " + what + "\n  need   lines like lr = 1e-3 or file = \"a.txt\"");
  }

  std::string take(std::size_t length) {
    const std::string taken(rest_.substr(0, length));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  /// Numbers, in which TOML allows _ between digits, and words.
  std::string bare() {
    std::string found = take(rest_.find_first_of(" \t\r#"));
    if (found.find_first_of("\"'=") != std::string::npos) fail("quotes within a value");
    std::erase(found, '_');
    return found;
  }

  std::string literal() {
    const std::size_t end = rest_.find('\'', 1);
    if (end == std::string_view::npos) fail("the closing ' is missing");
    const std::string found = take(end + 1);
    return found.substr(1, found.size() - 2);
  }

  std::string quoted() {
    std::string found;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return found;
      }
      if (rest_[i] == '\\') {
        const char escaped = ++i < rest_.size() ? rest_[i] : '\0';
        if (escaped != '\\' && escaped != '"') fail("only \\\\ and \\\" are read of escapes");
      }
      found += rest_[i];
    }
    fail("the closing \" is missing");
  }

  std::string_view rest_;
  std::string place_;
};

}  // namespace

std::map<std::string, std::string> parse_flat_toml(const std::string& contents,
                                                   const std::string& file) {
  std::map<std::string, std::string> values;
  std::istringstream lines(contents);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = text(file, ":", number);
    LineReader reader(line, place);
    if (reader.at_end()) continue;
    const std::string name = reader.name();
    const std::string value = reader.value();
    if (!values.emplace(name, value).second) {
      throw Failure(kData, place + ": '" + name + "' is given twice");
    }
  }
  return values;
}

std::string toml_string(const std::string& contents) {
  std::string quoted = "\"";
  for (const char c : contents) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace examples
