// Another number of threads for the length of a scope.
#pragma once

#include "framework/core/parallel.h"

namespace gradus::testing {

class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(num_threads()) { set_num_threads(count); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() { set_num_threads(before_); }

 private:
  int before_;
};

}  // namespace gradus::testing
