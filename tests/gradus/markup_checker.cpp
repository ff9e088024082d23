#include "tests/gradus/markup_checker.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "framework/core/error.h"

namespace gradus::testing {
namespace {

/// Reads a document from its front. Every step says whether it found what it was to find.
class Checker {
 public:
  explicit Checker(std::string_view text) : rest_(text), whole_(text.size()) {}

  std::string fault() {
    while (!rest_.empty()) {
      const std::string_view before = rest_;
      if (!piece()) {
        return text("at byte ", whole_ - before.size(), ": ", before.substr(0, 40));
      }
    }
    return open_.empty() ? "" : "not closed: " + open_.back();
  }

 private:
  bool piece() {
    if (rest_[0] == '&') return entity();
    if (rest_[0] != '<') return take(1);
    if (given("<!DOCTYPE html>")) return true;
    if (given("<?xml ")) return take(rest_.find('>') + 1);
    return given("</") ? closing() : given("<") && opening();
  }
  bool entity() {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (given(known)) return true;
    }
    return false;
  }
  bool closing() {
    const std::string name = word();
    if (open_.empty() || open_.back() != name) return false;
    open_.pop_back();
    return given(">");
  }
  bool opening() {
    const std::string name = word();
    if (name.empty()) return false;
    while (given(" ")) {
      if (!attribute()) return false;
    }
    if (given("/>")) return true;
    open_.push_back(name);
    return given(">");
  }
  bool attribute() {
    if (word().empty() || !given("=\"")) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '<' || !(rest_[0] == '&' ? entity() : take(1))) return false;
    }
    return given("\"");
  }

  std::string word() {
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_letter);
    const std::string letters(rest_.begin(), end);
    rest_.remove_prefix(letters.size());
    return letters;
  }
  bool given(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    return take(wanted.size());
  }
  bool take(std::size_t count) {
    if (count == 0 || count > rest_.size()) return false;
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
  std::size_t whole_;
  std::vector<std::string> open_{};
};

}  // namespace

std::string markup_fault(const std::string& text) { return Checker(text).fault(); }

std::size_t element_count(const std::string& text, const std::string& name) {
  const std::string start = "<" + name;
  std::size_t count = 0;
  for (std::size_t i = text.find(start); i != text.npos; i = text.find(start, i + 1)) ++count;
  return count;
}

}  // namespace gradus::testing
