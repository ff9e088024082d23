#include "framework/autograd/trace.h"

#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace gradus {
namespace {

thread_local int tape_traces = 0;
thread_local int nan_traces = 0;

/// Where the path of this thread ended before each part was added.
struct Path {
  std::string text;
  std::vector<std::size_t> ends;
};
Path& path_here() {
  thread_local Path path;
  return path;
}

}  // namespace

TapeTrace::TapeTrace() noexcept { ++tape_traces; }
TapeTrace::~TapeTrace() { --tape_traces; }
bool TapeTrace::is_active() noexcept { return tape_traces > 0; }

NanTrace::NanTrace() noexcept { ++nan_traces; }
NanTrace::~NanTrace() { --nan_traces; }
bool NanTrace::is_active() noexcept { return nan_traces > 0; }

NanTracePause::NanTracePause() noexcept : traces_(std::exchange(nan_traces, 0)) {}
NanTracePause::~NanTracePause() { nan_traces = traces_; }

PathPart::PathPart(const std::string& name) {
  Path& path = path_here();
  path.ends.push_back(path.text.size());
  if (!path.text.empty() && !name.empty()) path.text += '.';
  path.text += name;
}

PathPart::~PathPart() {
  Path& path = path_here();
  path.text.resize(path.ends.back());
  path.ends.pop_back();
}

const char* current_path() {
  const std::string& text = path_here().text;
  if (text.empty()) return "";
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& known = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  return known.insert(text).first->c_str();
}

}  // namespace gradus
