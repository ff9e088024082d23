// Runs a hidden test case of this program in a process of its own, for what is decided once per
// process (an environment variable) or shows only in how it ends.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/runner.h"

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
      "env " + environment + " GRADUS_TEST_CHILD=1 " + runnable(program) + " '" + tag + "' 2>&1";
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

/// A hidden case that runs beside this process, in silence, until it ends or is killed.
class RunningChild {
 public:
  /// `variable` as "NAME=value", for what the case must be told.
  RunningChild(const std::string& variable, const std::string& tag) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command = "exec " + runnable(program) + " '" + tag + "'";
    std::vector<std::string> words{"sh", "-c", command, variable, "GRADUS_TEST_CHILD=1"};
    char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    std::vector<char*> environment{words[3].data(), words[4].data()};
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn(&id_, "/bin/sh", &actions, nullptr, arguments, environment.data());
    posix_spawn_file_actions_destroy(&actions);
  }
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;
  ~RunningChild() { kill(); }

  /// Ends it as kill -9 does. False where it was not running any more.
  bool kill() {
    if (id_ <= 0) return false;
    ::kill(id_, SIGKILL);
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t id_ = -1;
};

}  // namespace gradus::testing
