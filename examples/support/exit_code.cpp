#include "examples/support/exit_code.h"

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "framework/core/error.h"

namespace examples {

void require(bool met, const std::string& criterion) {
  if (!met) throw Failure(kCriterionMissed, "criterion missed: " + criterion);
}

int run(const std::function<ExitCode()>& program) {
  try {
    const ExitCode code = program();
    if (std::cout.flush()) return code;
    std::fprintf(stderr, "the results could not be written to the standard output\n");
    return kCriterionMissed;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return failure.code();
  } catch (const gradus::IoError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kData;
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
