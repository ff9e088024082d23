// A folder of its own for a test, gone with all that is in it at the end of the scope.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace gradus::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int folders = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("gradus_" + std::to_string(::getpid()) + "_" + std::to_string(folders++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace gradus::testing
