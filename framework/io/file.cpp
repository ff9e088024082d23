#include "framework/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "framework/core/error.h"

namespace gradus {
namespace {

namespace fs = std::filesystem;

/// The contents of a system call's failure: errno, before anything else changes it.
[[noreturn]] void fail(const char* what, const fs::path& path, int error = errno) {
  const fs::path folder = path.parent_path();
  std::error_code unknown;
  const bool no_folder = error == ENOENT && !folder.empty() && !fs::exists(folder, unknown);
  throw IoError(text(what, path.string(), ": ", std::system_category().message(error)),
                {.hint = no_folder ? text("there is no folder ", folder.string()) : ""});
}

/// An open file, closed at the end of its scope; its number is below 0 where it could not be
/// opened.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags)
      : number(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }

  const int number;
};

/// False with errno.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// A name that nobody else uses now.
fs::path draft_name(const fs::path& path) {
  static std::atomic<unsigned> drafts{0};
  fs::path name = path;
  name += text(".", ::getpid(), "-", drafts++, ".tmp");
  return name;
}

/// Writes the bytes to a new file, with the permissions of the one that it will replace, if there
/// is one and the file system has such; returns 0, or errno where that failed.
int write_draft(const fs::path& draft, std::string_view bytes, const struct stat* replaced) {
  const OpenFile file(draft, O_WRONLY | O_CREAT | O_EXCL);
  if (file.number < 0) return errno;
  if (replaced) static_cast<void>(::fchmod(file.number, replaced->st_mode & 07777));
  const bool written = write_all(file.number, bytes) && ::fsync(file.number) == 0;
  return written ? 0 : errno;
}

/// Replaces a file by way of a draft; returns 0, or errno where that failed.
int replace(const fs::path& path, std::string_view bytes, const struct stat* replaced) {
  fs::path draft = draft_name(path);
  int error = write_draft(draft, bytes, replaced);
  while (error == EEXIST) {  // a killed program had our number
    draft = draft_name(path);
    error = write_draft(draft, bytes, replaced);
  }
  if (error == 0 && ::rename(draft.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(draft.c_str());
  return error;
}

/// A pipe or a device is no file to be replaced: the bytes go through it. Returns 0, or errno.
int write_through(const fs::path& path, std::string_view bytes) {
  const OpenFile file(path, O_WRONLY);
  return file.number >= 0 && write_all(file.number, bytes) ? 0 : errno;
}

/// The file that a link leads to; the path itself where it is no link, or leads nowhere.
fs::path followed(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

/// Makes a rename last. Some file systems cannot, and some folders cannot be opened: no fault of
/// the file, which is whole either way.
void flush_folder(const fs::path& folder) {
  const OpenFile file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (file.number >= 0) ::fsync(file.number);
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t most) {
  const OpenFile file(path, O_RDONLY);
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0) fail("load: cannot read ", path);
  const auto expected = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));

  std::string bytes;
  std::size_t size = 0;
  // One byte more than it says, to meet the end without another round.
  for (std::size_t room = expected + 1; size < most; room = size / 2 + 4096) {
    bytes.resize(std::min(most, size + room));
    const ssize_t count = ::read(file.number, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno != EINTR) fail("load: cannot read ", path);
    if (count == 0) break;
    size += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  bytes.resize(size);
  return bytes;
}

void write_file(const fs::path& path, std::string_view bytes) {
  const fs::path target = followed(path);
  struct stat before {};
  const bool exists = ::stat(target.c_str(), &before) == 0;
  const bool is_replaced = !exists || S_ISREG(before.st_mode) || S_ISDIR(before.st_mode);
  const int error = is_replaced ? replace(target, bytes, exists ? &before : nullptr)
                                : write_through(target, bytes);
  if (error != 0) fail("save: cannot write ", path, error);
  if (is_replaced) flush_folder(target.parent_path());
}

}  // namespace gradus
