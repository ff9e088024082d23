// All tasks, each in a file of its own. One more is a file, a line here, and a line in task.cpp.
#pragma once

#include "examples/gradus/tasks/task.h"

namespace examples {

Task copy_task();
Task reverse_task();
Task sort_task();
Task add_task();
Task recall_task();
Task parentheses_task();

}  // namespace examples
