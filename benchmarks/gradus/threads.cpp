// Gradus's name and its threads.
#include <gradus/gradus.h>

#include "work.h"

namespace work {

std::string description() {
  return std::string("Gradus " GRADUS_VERSION ", ") + gradus::instruction_set();
}

void set_threads(int count) { gradus::set_num_threads(count); }

}  // namespace work
