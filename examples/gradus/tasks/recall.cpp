// recall: pairs of a letter and a digit, then the letters in another order: each again with its
// digit. Whoever says "c" has to find the "c" before, and what stood behind it: two heads in a row
// can, and are known as an induction head (Olsson et al., "In-context learning and induction
// heads", 2022).
#include <cstddef>
#include <vector>

#include "examples/gradus/tasks/all.h"

namespace examples {
namespace {

/// "a4c7b1?bac" and "b1a4c7". No letter comes twice among the pairs.
Sample draw_recall(const TaskSize& size, Index /*number*/, gradus::Generator& generator) {
  const std::vector<Index> letters = generator.permutation(size.symbols);
  const std::string digits = random_text(size.length, first_digits(10), generator);
  std::vector<std::string> pairs;
  Sample sample;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    pairs.push_back({static_cast<char>('a' + letters[i]), digits[i]});
    sample.question += pairs.back();
  }
  sample.question += '?';
  for (const Index asked : generator.permutation(size.length)) {
    const std::string& pair = pairs[static_cast<std::size_t>(asked)];
    sample.question += pair.front();
    sample.answer += pair;
  }
  return sample;
}

}  // namespace

Task recall_task() {
  return {.name = "recall",
          .meaning = "each letter again, with its digit",
          .length = {1, 4, 21},
          .length_unit = "pairs",
          .example_length = 2,
          .symbols = {2, 8, 26},
          .steps = 800,
          .lr = 1e-3,
          .problem =
              [](const TaskSize& size) {
                return size.symbols >= size.length ? "" : "needs at least as many symbols as pairs";
              },
          .alphabet =
              [](const TaskSize& size) {
                return first_letters(size.symbols, 'a') + first_digits(10) + "?";
              },
          .draw = draw_recall};
}

}  // namespace examples
