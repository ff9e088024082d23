// Where the tests run on another processor than the machine's, so must the programs they start.
#pragma once

#include <cstdlib>
#include <string>

namespace gradus::testing {

/// A program as a shell must be told to run it: GRADUS_TEST_RUNNER stands before it, where that is
/// set ("qemu-x86_64 -cpu Nehalem").
inline std::string runnable(const std::string& program) {
  const char* runner = std::getenv("GRADUS_TEST_RUNNER");
  return (runner ? std::string(runner) + " '" : "'") + program + "'";
}

}  // namespace gradus::testing
