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

namespace gradus::testing {

struct ChildResult {
  int exit_code = -1;
  std::string output{};
};

/// Whether this is such a process. A hidden case may also be run by hand, or by a filter that only
/// excludes; it must then leave the process alone.
inline bool is_child() { return std::getenv("GRADUS_TEST_CHILD") != nullptr; }

/// `environment` as in a shell: "GRADUS_ISA=baseline GRADUS_NUM_THREADS=2"; `tag` selects the case.
/// Where this program runs on another's processor, GRADUS_TEST_RUNNER says what runs the child, too
/// ("qemu-x86_64 -cpu Nehalem").
inline ChildResult run_child(const std::string& environment, const std::string& tag) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const char* runner = std::getenv("GRADUS_TEST_RUNNER");
  const std::string command = "env " + environment + " GRADUS_TEST_CHILD=1 " +
                              (runner ? runner : "") + " '" + program + "' '" + tag + "' 2>&1";
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
    std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> words{program, tag, variable, "GRADUS_TEST_CHILD=1"};
    char* const arguments[] = {words[0].data(), words[1].data(), nullptr};
    std::vector<char*> environment{words[2].data(), words[3].data()};
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments, environment.data());
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
