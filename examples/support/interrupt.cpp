#include "examples/support/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "examples/support/exit_code.h"

namespace examples {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int /*signal*/) {
  if (signals_seen != 0) _exit(kInterrupted);
  signals_seen = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signals_seen != 0; }

}  // namespace examples
