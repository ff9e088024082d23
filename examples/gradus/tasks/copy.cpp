// copy: the same digits again. Position i has to look `length` positions back.
#include "examples/gradus/tasks/all.h"

namespace examples {

Task copy_task() {
  return {.name = "copy",
          .meaning = "the same digits again",
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
                return Sample{text, text};
              }};
}

}  // namespace examples
