#include "examples/gradus/commands/tasks_command.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "examples/gradus/report/report.h"
#include "examples/gradus/tasks/task.h"
#include "examples/gradus/tasks/vocabulary.h"
#include "examples/support/format.h"
#include "examples/support/terminal.h"
#include "examples/support/text_layout.h"

namespace examples {
namespace {

constexpr int kNameColumns = 13;
constexpr std::uint64_t kExampleSeed = 7;

Sample example_of(const Task& task) {
  gradus::Generator generator(kExampleSeed);
  return task.draw({task.example_length, task.symbols.usual}, 0, generator);
}

void write_task(const Task& task, const Terminal& terminal) {
  const TaskSize usual{task.length.usual, task.symbols.usual};
  const Index vocab_size = Vocabulary(task.alphabet(usual) + kEquals).size();
  const Sample example = example_of(task);
  const std::string question = example.question + kEquals;
  std::cout << " " << padded(task.name, kNameColumns)
            << format("%3lld  %5.2f  ", static_cast<long long>(vocab_size),
                      std::log(static_cast<double>(vocab_size)))
            << padded(question + example.answer, 16) << "  " << task.meaning << "\n"
            << repeated(" ", kNameColumns + 13 + columns(question))
            << repeated(terminal.pick("▔", "^"), columns(example.answer)) << "\n";
}

ExitCode list_tasks() {
  const Terminal terminal(STDOUT_FILENO);
  std::cout << " " << padded("task", kNameColumns) << "  V   ln V  " << padded("example", 16)
            << "  what is wanted\n";
  for (const Task& task : all_tasks()) write_task(task, terminal);
  std::cout
      << " " << padded(kTextTask, kNameColumns)
      << "                         any text file, character by character\n\n"
      << "V counts the characters, = among them; ln V is the loss of knowing nothing. Only the\n"
      << "answer, behind =, counts for the loss.\n";
  report_next({{"train sort", "train one of them"}, {"train text --file FILE", "or a text"}});
  return kWell;
}

}  // namespace

void add_tasks_command(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("tasks", "List what can be trained");
  command->callback([&chosen] { chosen = list_tasks; });
}

}  // namespace examples
