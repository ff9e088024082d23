// add: the sum of two numbers, its last digit first, so that every carry is known when it is needed
// (Lee et al., "Teaching arithmetic to small transformers", 2023). 85+50 is 135: "85+50=531".
#include <algorithm>

#include "examples/gradus/tasks/all.h"

namespace examples {
namespace {

/// Both summands have `length` digits, leading zeros included; the sum has one more.
Sample draw_sum(const TaskSize& size, Index /*number*/, gradus::Generator& generator) {
  const std::string first = random_text(size.length, first_digits(10), generator);
  const std::string second = random_text(size.length, first_digits(10), generator);
  std::string sum;
  int carry = 0;
  for (std::size_t place = first.size(); place-- > 0;) {
    const int digits = (first[place] - '0') + (second[place] - '0') + carry;
    sum += static_cast<char>('0' + digits % 10);
    carry = digits / 10;
  }
  sum += static_cast<char>('0' + carry);
  return {first + "+" + second, sum};
}

}  // namespace

Task add_task() {
  return {.name = "add",
          .meaning = "the sum, last digit first",
          .length = {1, 2, 20},
          .length_unit = "digits per number",
          .example_length = 2,
          .steps = 2000,
          .alphabet = [](const TaskSize& /*size*/) { return first_digits(10) + "+"; },
          .draw = draw_sum};
}

}  // namespace examples
