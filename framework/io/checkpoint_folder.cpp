#include "framework/io/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "framework/core/error.h"

namespace gradus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = "step_";
constexpr std::string_view kEnd = ".safetensors";

std::string name_of(Index step) {
  const std::string digits = std::to_string(step);
  const std::size_t zeros = digits.size() < 6 ? 6 - digits.size() : 0;
  return std::string(kStart) + std::string(zeros, '0') + digits + std::string(kEnd);
}

/// The step of a name as name_of makes it; nothing for any other.
std::optional<Index> step_of(const std::string& name) {
  if (!name.starts_with(kStart) || !name.ends_with(kEnd)) return std::nullopt;
  Index step = 0;
  const char* const digits = name.data() + kStart.size();
  const char* const end = name.data() + name.size() - kEnd.size();
  const bool is_number = std::from_chars(digits, end, step).ec == std::errc();
  return is_number && name_of(step) == name ? std::optional(step) : std::nullopt;
}

/// Whether a program that was killed has left this: write_file's draft of a checkpoint.
bool is_leftover(const std::string& name) {
  const std::size_t end = name.find(std::string(kEnd) + ".");
  return name.ends_with(".tmp") && end != std::string::npos &&
         step_of(name.substr(0, end + kEnd.size()));
}

/// Calls f(path, name) for every file; for none where there is no folder.
template <class F>
void for_each_file(const fs::path& folder, F f) {
  std::error_code error;
  fs::directory_iterator file(folder, error);
  if (error == std::errc::no_such_file_or_directory) return;
  for (; !error && file != fs::directory_iterator(); file.increment(error)) {
    f(file->path(), file->path().filename().string());
  }
  if (error) throw IoError("load: cannot read " + folder.string() + ": " + error.message());
}

/// By rising step, and without a look inside.
std::vector<SavedCheckpoint> files_in(const fs::path& folder) {
  std::vector<SavedCheckpoint> files;
  for_each_file(folder, [&files](const fs::path& path, const std::string& name) {
    if (const auto step = step_of(name)) files.push_back({.path = path, .step = *step});
  });
  std::sort(files.begin(), files.end(),
            [](const SavedCheckpoint& a, const SavedCheckpoint& b) { return a.step < b.step; });
  return files;
}

/// Whether another program has removed it since it was found.
bool is_gone(const fs::path& path) {
  std::error_code unknown;
  return fs::symlink_status(path, unknown).type() == fs::file_type::not_found;
}

bool is_whole(const SavedCheckpoint& file) {
  try {
    load_checkpoint(file.path);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw IoError("save: cannot remove " + path.string() + ": " + error.message());
}

bool contains(const std::vector<SavedCheckpoint>& list, const fs::path& path) {
  return std::any_of(list.begin(), list.end(),
                     [&path](const SavedCheckpoint& saved) { return saved.path == path; });
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, const CheckpointFolderOptions& options)
    : folder_(std::move(folder)), options_(options) {
  if (options.keep_last < 1 || options.keep_best < 0) {
    throw ValueError(text("CheckpointFolder: keep_last ", options.keep_last, " and keep_best ",
                          options.keep_best, " must be at least 1 and 0"));
  }
}

fs::path CheckpointFolder::save(const Checkpoint& checkpoint, std::optional<double> score) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw IoError("save: cannot make the folder " + folder_.string() + ": " + error.message());
  }
  const fs::path path = folder_ / name_of(checkpoint.step);
  save_checkpoint(path, checkpoint, score);
  prune(path);
  return path;
}

void CheckpointFolder::prune(const fs::path& newest) const {
  std::vector<fs::path> leftovers;
  for_each_file(folder_, [&leftovers](const fs::path& path, const std::string& name) {
    if (is_leftover(name)) leftovers.push_back(path);
  });
  const std::vector<SavedCheckpoint> saved = list();
  std::vector<SavedCheckpoint> best = best_first(saved);
  best.resize(std::min(best.size(), static_cast<std::size_t>(options_.keep_best)));
  const std::size_t last = std::min(saved.size(), static_cast<std::size_t>(options_.keep_last));
  for (std::size_t i = 0; i + last < saved.size(); ++i) {
    const fs::path& path = saved[i].path;
    if (path != newest && !contains(best, path)) leftovers.push_back(path);
  }
  for (const fs::path& path : leftovers) remove_file(path);
}

bool CheckpointFolder::empty() const { return files_in(folder_).empty(); }

std::vector<SavedCheckpoint> CheckpointFolder::list() const {
  std::vector<SavedCheckpoint> whole;
  for (SavedCheckpoint& file : files_in(folder_)) {
    try {
      file.score = score_of_checkpoint(file.path);
      whole.push_back(std::move(file));
    } catch (const IoError&) {  // damaged: not removed either
    }
  }
  return whole;
}

std::vector<SavedCheckpoint> CheckpointFolder::best_first(
    const std::vector<SavedCheckpoint>& saved) const {
  std::vector<SavedCheckpoint> scored;
  for (const SavedCheckpoint& each : saved) {
    if (each.score && !std::isnan(*each.score)) scored.push_back(each);
  }
  const double sign = options_.smaller_is_better ? -1 : 1;
  std::stable_sort(scored.begin(), scored.end(),
                   [sign](const SavedCheckpoint& a, const SavedCheckpoint& b) {
                     return sign * *a.score > sign * *b.score;
                   });
  return scored;
}

Checkpoint CheckpointFolder::latest() const {
  std::vector<SavedCheckpoint> files = files_in(folder_);
  if (files.empty()) throw IoError("load: " + folder_.string() + " holds no checkpoint");
  const fs::path newest = files.back().path;
  files.pop_back();
  try {
    return load_checkpoint(newest);
  } catch (const IoError& error) {
    if (is_gone(newest)) return latest();  // for there are newer ones
    const auto whole = std::find_if(files.rbegin(), files.rend(), is_whole);
    if (whole == files.rend()) throw;
    throw IoError(error.what(),
                  {.hint = "the previous checkpoint is whole: " + whole->path.string()});
  }
}

Checkpoint CheckpointFolder::best() const {
  const std::vector<SavedCheckpoint> scored = best_first(list());
  if (scored.empty()) {
    throw IoError("load: " + folder_.string() + " holds no checkpoint with a score");
  }
  try {
    return load_checkpoint(scored.front().path);
  } catch (const IoError&) {
    if (is_gone(scored.front().path)) return best();  // for there are better ones
    throw;
  }
}

}  // namespace gradus
