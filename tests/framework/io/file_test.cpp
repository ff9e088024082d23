// Files, whole: any bytes come back, and a failure names the file, the reason, and leaves nothing.
#include "framework/io/file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "framework/core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"

using namespace gradus;
using namespace gradus::testing;

namespace fs = std::filesystem;

namespace {

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// No file may grow beyond this while it lives, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : before_signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_signal_);
  }

 private:
  rlimit before_{};
  void (*before_signal_)(int);
};

}  // namespace

TEST_CASE("C117: bytes that text files change come back as they were", "[io][cases]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "grüße, 世界.bin";
  std::string bytes("\x0A\x0D\x1A\x00\xFF\x0D\x0A", 7);
  write_file(path, bytes);
  CHECK(read_file(path) == bytes);
  CHECK(fs::file_size(path) == 7);
  write_file(path, "");
  CHECK(read_file(path).empty());
  bytes.assign(300000, '\x1A');
  write_file(path, bytes);
  CHECK(read_file(path) == bytes);
  CHECK(read_file(path, 5) == "\x1A\x1A\x1A\x1A\x1A");
  CHECK(read_file(path, 0).empty());
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file without a size that is known beforehand is read to its end", "[io]") {
  CHECK(read_file("/proc/self/status").find("VmRSS") != std::string::npos);
}

TEST_CASE("a file that cannot be read is named, with the reason", "[io][errors]") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  CHECK(error_text<IoError>([&] { read_file(folder / "none"); }) ==
        "load: cannot read " + path + "/none: No such file or directory");
  CHECK(error_text<IoError>([&] { read_file(folder / "no" / "folder"); }) ==
        "load: cannot read " + path + "/no/folder: No such file or directory\n" +
            "  hint   there is no folder " + path + "/no");
  CHECK(error_text<IoError>([&] { read_file(folder.path()); }) ==
        "load: cannot read " + path + ": Is a directory");
}

TEST_CASE("a file that cannot be written is named, and what was there stays", "[io][errors]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file";
  const std::string name = path.string();
  write_file(path, "old");
  SECTION("where there is no folder") {
    CHECK(error_text<IoError>([&] { write_file(folder / "no" / "file", "new"); }) ==
          "save: cannot write " + (folder / "no" / "file").string() +
              ": No such file or directory\n  hint   there is no folder " +
              (folder / "no").string());
  }
  SECTION("under a file") {
    CHECK(error_text<IoError>([&] { write_file(path / "file", "new"); }) ==
          "save: cannot write " + name + "/file: Not a directory");
  }
  SECTION("in place of a folder") {
    fs::create_directory(folder / "sub");
    CHECK(error_text<IoError>([&] { write_file(folder / "sub", "new"); }) ==
          "save: cannot write " + (folder / "sub").string() + ": Is a directory");
    fs::remove(folder / "sub");
  }
  SECTION("on a full disk") {
    const FileSizeLimit limit(1000);
    CHECK(error_text<IoError>([&] { write_file(path, std::string(5000, 'x')); }) ==
          "save: cannot write " + name + ": File too large");
  }
  SECTION("without permission, which root always has") {
    if (::geteuid() == 0) return;
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(error_text<IoError>([&] { write_file(path, "new"); }) ==
          "save: cannot write " + name + ": Permission denied");
    fs::permissions(folder.path(), fs::perms::owner_all);
  }
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a link stays a link, and a file keeps its permissions", "[io]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "sub");
  const fs::path file = folder / "sub" / "file";
  const fs::path link = folder / "link";
  write_file(file, "old");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("sub/file", link);
  write_file(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(read_file(file) == "new");
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(files_in(folder / "sub") == 1);

  fs::remove(file);  // now it leads nowhere
  write_file(link, "newer");
  CHECK(read_file(link) == "newer");
}

TEST_CASE("a pipe is written to, and not replaced", "[io]") {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = read_file(pipe); });
  write_file(pipe, "through");
  reader.join();
  CHECK(read == "through");
  CHECK(fs::is_fifo(pipe));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a draft that a killed program left is in nobody's way", "[io]") {
  const TemporaryFolder folder;
  // Many, for this process will take the number of one of them.
  for (int i = 0; i < 50; ++i) {
    std::ofstream(folder /
                  ("file." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp"));
  }
  for (int i = 0; i < 3; ++i) write_file(folder / "file", "new");
  CHECK(read_file(folder / "file") == "new");
}
