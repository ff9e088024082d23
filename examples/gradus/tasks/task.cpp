#include "examples/gradus/tasks/task.h"

#include <algorithm>

#include "examples/gradus/tasks/all.h"

namespace examples {

const std::vector<Task>& all_tasks() {
  static const std::vector<Task> tasks{copy_task(), reverse_task(), sort_task(),
                                       add_task(),  recall_task(),  parentheses_task()};
  return tasks;
}

const Task* find_task(const std::string& name) {
  const auto found = std::find_if(all_tasks().begin(), all_tasks().end(),
                                  [&](const Task& task) { return task.name == name; });
  return found == all_tasks().end() ? nullptr : &*found;
}

std::string random_text(Index length, const std::string& alphabet, gradus::Generator& generator) {
  std::string text;
  for (Index i = 0; i < length; ++i) text += alphabet[generator.random_below(alphabet.size())];
  return text;
}

std::string first_letters(Index count, char first) {
  std::string letters;
  for (Index i = 0; i < count; ++i) letters += static_cast<char>(first + i);
  return letters;
}

std::string first_digits(Index count) { return first_letters(count, '0'); }

}  // namespace examples
