// parentheses: whether every one that opens is closed, in order. Half of the questions are
// balanced, and those that are not have as many of either kind, so that counting alone does not
// tell.
#include <algorithm>

#include "examples/gradus/tasks/all.h"

namespace examples {
namespace {

bool is_balanced(const std::string& text) {
  int open = 0;
  for (const char c : text) {
    open += c == '(' ? 1 : -1;
    if (open < 0) return false;
  }
  return open == 0;
}

/// As many of either kind, in random order.
std::string random_parentheses(Index length, gradus::Generator& generator) {
  std::vector<Index> order = generator.permutation(length);
  std::string text;
  for (const Index place : order) text += place < length / 2 ? '(' : ')';
  return text;
}

/// Even numbers are balanced. Of random ones every (length / 2 + 1)th is, so that few draws do.
Sample draw_parentheses(const TaskSize& size, Index number, gradus::Generator& generator) {
  const bool wanted = number % 2 == 0;
  std::string text = random_parentheses(size.length, generator);
  while (is_balanced(text) != wanted) text = random_parentheses(size.length, generator);
  return {text, wanted ? "y" : "n"};
}

}  // namespace

Task parentheses_task() {
  return {
      .name = "parentheses",
      .meaning = "whether they are balanced, y or n",
      .length = {4, 20, 64},
      .length_unit = "parentheses",
      .example_length = 6,
      .steps = 500,
      .problem =
          [](const TaskSize& size) { return size.length % 2 == 0 ? "" : "needs an even length"; },
      .alphabet = [](const TaskSize& /*size*/) { return std::string("()yn"); },
      .draw = draw_parentheses};
}

}  // namespace examples
