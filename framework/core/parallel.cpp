#include "framework/core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "framework/core/error.h"

namespace gradus {
namespace {

int threads_at_start() {
  if (const char* wanted = std::getenv("GRADUS_NUM_THREADS"); wanted && *wanted) {
    char* end = nullptr;
    const long count = std::strtol(wanted, &end, 10);
    if (end == wanted || *end != '\0' || count < 1 || count > 1024) {
      throw ValueError(
          text("GRADUS_NUM_THREADS: needs a number from 1 to 1024, not '", wanted, "'"));
    }
    return static_cast<int>(count);
  }
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count = threads_at_start();
  return count;
}

/// One kernel's chunks, taken one after another by whoever is free.
struct Work {
  Index count;
  Index chunk;
  detail::ChunkFunction function;
  const void* body;
  std::atomic<Index> next{0};
  std::exception_ptr failure = nullptr;
  std::mutex failure_mutex{};

  void take_chunks() {
    for (;;) {
      const Index begin = next.fetch_add(chunk);
      if (begin >= count) return;
      try {
        function(body, begin, std::min(begin + chunk, count));
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  }
};

thread_local bool inside_chunk = false;

// A process that was forked has none of the pool's threads, and one of them may have held the
// pool's lock: it leaves the pool alone.
std::atomic<bool> was_forked = false;

/// Tells the processor that this thread only waits.
void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Looks for a while, some tens of microseconds, whether something has come to pass: the kernels of
/// a training step follow each other faster than a sleeping thread wakes up.
template <class Condition>
void spin_until(Condition has_come) {
  constexpr int kLooks = 2000;
  for (int look = 0; look < kLooks && !has_come(); ++look) pause();
}

class Pool {
 public:
  // Never destroyed: a global tensor may still run a kernel while the process exits.
  static Pool& instance() {
    static Pool& pool = *new Pool;
    return pool;
  }

  Pool() {
    pthread_atfork(nullptr, nullptr, [] { was_forked = true; });
  }

  /// False when another thread has the pool: the caller then does the work alone.
  bool try_run(Work& work, int helpers) {
    if (was_forked) return false;
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    {
      const std::scoped_lock lock(mutex_);
      work_ = &work;
      wanted_ = available_of(helpers);
      ++round_;
      if (asleep_ > 0) wake_.notify_all();
    }
    inside_chunk = true;
    work.take_chunks();
    inside_chunk = false;
    {
      const std::scoped_lock lock(mutex_);
      wanted_ = 0;
      work_ = nullptr;
    }
    spin_until([this] { return busy_ == 0; });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    return true;
  }

 private:
  /// Starts the helpers that are missing; fewer where the system gives no more threads, or none.
  int available_of(int helpers) {
    try {
      while (static_cast<int>(threads_.size()) < helpers) {
        threads_.emplace_back([this] { serve(); });
      }
    } catch (const std::system_error&) {
      return static_cast<int>(threads_.size());
    }
    return helpers;
  }

  void serve() {
    inside_chunk = true;
    std::uint64_t seen = 0;
    for (;;) {
      spin_until([&] { return round_ != seen; });
      Work* work = nullptr;
      {
        std::unique_lock lock(mutex_);
        ++asleep_;
        wake_.wait(lock, [&] { return round_ != seen; });
        --asleep_;
        seen = round_;
        if (wanted_ == 0) continue;  // others were faster
        --wanted_;
        ++busy_;
        work = work_;
      }
      work->take_chunks();
      const std::scoped_lock lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex owner_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  Work* work_ = nullptr;
  std::atomic<std::uint64_t> round_ = 0;
  int wanted_ = 0;
  std::atomic<int> busy_ = 0;
  int asleep_ = 0;
};

}  // namespace

int num_threads() { return thread_count(); }

void set_num_threads(int count) {
  if (count < 1) throw ValueError(text("set_num_threads: needs at least 1, not ", count));
  thread_count() = count;
}

void detail::run_chunks(Index count, Index chunk, ChunkFunction function, const void* body) {
  Work work{.count = count, .chunk = chunk, .function = function, .body = body};
  const Index chunks = (count + chunk - 1) / chunk;
  const int helpers = static_cast<int>(std::min<Index>(num_threads(), chunks)) - 1;
  if (helpers < 1 || inside_chunk || !Pool::instance().try_run(work, helpers)) work.take_chunks();
  if (work.failure) std::rethrow_exception(work.failure);
}

}  // namespace gradus
