// Interrupts: Ctrl-C or SIGTERM once asks the program to finish its step and to end in order; a
// second one ends it at once.
#pragma once

namespace examples {

/// From now on the first signal only makes interrupted() true.
void catch_interrupts();
bool interrupted();

}  // namespace examples
