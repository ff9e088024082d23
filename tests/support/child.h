// Runs a hidden test case of this program in a process of its own, for what is decided once per
// process (an environment variable) or shows only in how it ends.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace gradus::testing {

struct ChildResult {
  int exit_code = -1;
  std::string output{};
};

/// Whether this is such a process. A hidden case may also be run by hand, or by a filter that only
/// excludes; it must then leave the process alone.
inline bool is_child() { return std::getenv("GRADUS_TEST_CHILD") != nullptr; }

/// `environment` as in a shell: "GRADUS_ISA=baseline GRADUS_NUM_THREADS=2"; `tag` selects the case.
inline ChildResult run_child(const std::string& environment, const std::string& tag) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "env " + environment + " GRADUS_TEST_CHILD=1 '" + program + "' '" + tag + "' 2>&1";
  ChildResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace gradus::testing
