#include "examples/support/exit_code.h"

#include <cstdio>
#include <exception>
#include <new>

namespace examples {

void require(bool met, const std::string& criterion) {
  if (!met) throw Failure(kCriterionMissed, "criterion missed: " + criterion);
}

int run(const std::function<ExitCode()>& program) {
  try {
    return program();
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return failure.code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "out of memory: a smaller model or batch may fit\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return kUsage;
}

int run(void (*program)()) {
  return run([program] {
    program();
    return kWell;
  });
}

}  // namespace examples
