// Task: a kind of question with one right answer, made up at random, as "CABBAC" and "AABBCC".
// Every character is a token. The model reads "CABBAC=" and has to go on with "AABBCC".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/core/random.h"

namespace examples {

using gradus::Index;

/// Stands between question and answer.
inline constexpr char kEquals = '=';

struct Sample {
  std::string question;
  std::string answer;
};

/// What can be chosen about a task. Samples of one size are all equally long.
struct TaskSize {
  Index length;
  Index symbols;
};

struct SizeRange {
  Index least = 0;
  Index usual = 0;
  Index most = 0;  ///< 0 where there is nothing to choose
};

struct Task {
  std::string name;
  std::string meaning;  ///< in a line
  SizeRange length;
  std::string length_unit;  ///< what is counted: "digits per number"
  Index example_length;     ///< of one that fits in a table
  SizeRange symbols{};
  Index steps;       ///< that lead well beyond 99 %
  double lr = 2e-3;  ///< with which they do, whatever the seed

  /// What is wrong with a size, if anything is.
  std::function<std::string(const TaskSize&)> problem{};
  /// All characters that questions and answers may have.
  std::function<std::string(const TaskSize&)> alphabet;
  /// Sample number `number` of a series: tasks with kinds of samples give them in turn.
  std::function<Sample(const TaskSize&, Index number, gradus::Generator&)> draw;
};

/// In the order in which they are shown.
const std::vector<Task>& all_tasks();
/// Null where there is none of that name.
const Task* find_task(const std::string& name);

/// So many characters, each drawn evenly from the alphabet.
std::string random_text(Index length, const std::string& alphabet, gradus::Generator& generator);
/// "ABC...", at most 26 of them.
std::string first_letters(Index count, char first);
std::string first_digits(Index count);

}  // namespace examples
