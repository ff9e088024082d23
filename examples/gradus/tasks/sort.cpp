// sort: the same letters in the order of the alphabet. How often each comes has to be counted.
#include <algorithm>

#include "examples/gradus/tasks/all.h"

namespace examples {

Task sort_task() {
  return {.name = "sort",
          .meaning = "the same letters in order",
          .length = {1, 6, 64},
          .length_unit = "letters",
          .example_length = 6,
          .symbols = {2, 8, 26},
          .steps = 800,
          .alphabet = [](const TaskSize& size) { return first_letters(size.symbols, 'A'); },
          .draw =
              [](const TaskSize& size, Index /*number*/, gradus::Generator& generator) {
                const std::string question =
                    random_text(size.length, first_letters(size.symbols, 'A'), generator);
                std::string answer = question;
                std::sort(answer.begin(), answer.end());
                return Sample{question, answer};
              }};
}

}  // namespace examples
