// reverse: the same digits from back to front. Its attention is an anti-diagonal.
#include "examples/gradus/tasks/all.h"

namespace examples {

Task reverse_task() {
  return {.name = "reverse",
          .meaning = "the same digits from back to front",
          .length = {1, 12, 64},
          .length_unit = "digits",
          .example_length = 4,
          .symbols = {2, 10, 10},
          .steps = 300,
          .alphabet = [](const TaskSize& size) { return first_digits(size.symbols); },
          .draw =
              [](const TaskSize& size, Index /*number*/, gradus::Generator& generator) {
                const std::string text =
                    random_text(size.length, first_digits(size.symbols), generator);
                return Sample{text, std::string(text.rbegin(), text.rend())};
              }};
}

}  // namespace examples
