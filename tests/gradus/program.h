// Runs the program `gradus` as its users do, in a folder of its own.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "framework/io/file.h"
#include "tests/support/runner.h"

namespace gradus::testing {

/// A folder that is empty at first and gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gradus_test_XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ProgramResult {
  int exit_code = -1;
  std::string output{};  ///< on stdout
  std::string log{};     ///< on stderr
};

/// `arguments` as in a shell, in which $gradus is the program: "train sort --steps 2" by itself is
/// $gradus train sort --steps 2. `environment` stands before the program: "NO_COLOR=1".
inline ProgramResult run_gradus(const ScratchFolder& folder, const std::string& arguments,
                                const std::string& environment = "") {
  const std::filesystem::path output = folder.path() / "stdout";
  const std::filesystem::path log = folder.path() / "stderr";
  const std::string command = "cd '" + folder.path().string() + "' && env LC_ALL=C " + environment +
                              " " + runnable(GRADUS_PROGRAM) + " " + arguments +
                              " >stdout 2>stderr";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output), read_file(log)};
}

}  // namespace gradus::testing
