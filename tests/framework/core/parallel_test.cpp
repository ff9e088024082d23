#include "framework/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "framework/core/error.h"
#include "tests/support/child.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/thread_count.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// How often each index of 0..count was given to the body.
std::vector<int> visits(Index count, Index chunk) {
  std::vector<std::atomic<int>> counters(static_cast<std::size_t>(count));
  parallel_for(count, chunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ++counters[static_cast<std::size_t>(i)];
  });
  return {counters.begin(), counters.end()};
}

/// The chunks, as pairs of begin and end.
std::set<std::pair<Index, Index>> chunks(Index count, Index chunk) {
  std::mutex mutex;
  std::set<std::pair<Index, Index>> found;
  parallel_for(count, chunk, [&](Index begin, Index end) {
    const std::scoped_lock lock(mutex);
    found.emplace(begin, end);
  });
  return found;
}

}  // namespace

TEST_CASE("parallel_for: every index once") {
  const ThreadCount threads(GENERATE(1, 2, 3, 8));
  for (const Index count : {1, 2, 7, 64, 1000, 1001}) {
    for (const Index chunk : {1, 2, 3, 64, 999, 1000, 5000}) {
      INFO("count " << count << ", chunk " << chunk);
      CHECK(visits(count, chunk) == std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST_CASE("parallel_for: the same chunks for any number of threads") {
  std::set<std::pair<Index, Index>> want = {{0, 30}, {30, 60}, {60, 90}, {90, 100}};
  for (const int count : {1, 2, 3, 8}) {
    const ThreadCount threads(count);
    CHECK(chunks(100, 30) == want);
  }
}

TEST_CASE("parallel_for: nothing to do") {
  int calls = 0;
  const auto body = [&](Index, Index) { ++calls; };
  parallel_for(0, 10, body);
  parallel_for(-5, 10, body);
  CHECK(calls == 0);
}

TEST_CASE("parallel_for: really uses several threads, and one where one is wanted") {
  const auto threads_used = [](int count) {
    const ThreadCount threads(count);
    std::mutex mutex;
    std::set<std::thread::id> ids;
    parallel_for(32, 1, [&](Index, Index) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::scoped_lock lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return ids;
  };
  CHECK(threads_used(1) == std::set{std::this_thread::get_id()});
  CHECK(threads_used(4).size() > 1);
  CHECK(threads_used(4).size() <= 4);
}

TEST_CASE("parallel_for: called from inside a chunk") {
  const ThreadCount threads(4);
  std::vector<std::atomic<int>> counters(40 * 50);
  parallel_for(40, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const std::thread::id outer = std::this_thread::get_id();
      parallel_for(50, 3, [&](Index first, Index last) {
        if (std::this_thread::get_id() != outer) return;  // would leave its counters at 0
        for (Index j = first; j < last; ++j) ++counters[static_cast<std::size_t>(i * 50 + j)];
      });
    }
  });
  CHECK(std::vector<int>(counters.begin(), counters.end()) == std::vector<int>(40 * 50, 1));
}

TEST_CASE("parallel_for: rethrows, and goes on working") {
  const ThreadCount threads(GENERATE(1, 4));
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS_MATCHES(parallel_for(100, 1,
                                      [](Index begin, Index) {
                                        if (begin == 37) throw std::runtime_error("chunk 37");
                                      }),
                         std::runtime_error, Catch::Matchers::Message("chunk 37"));
    CHECK_THROWS_AS(parallel_for(100, 1, [](Index, Index) { throw std::bad_alloc(); }),
                    std::bad_alloc);
    CHECK_THROWS_AS(parallel_for(1, 10, [](Index, Index) { throw std::bad_alloc(); }),
                    std::bad_alloc);
    CHECK_THROWS_AS(parallel_for(10, 1,
                                 [](Index, Index) {
                                   parallel_for(10, 1,
                                                [](Index, Index) { throw std::bad_alloc(); });
                                 }),
                    std::bad_alloc);
    CHECK(visits(100, 3) == std::vector<int>(100, 1));
  }
}

TEST_CASE("parallel_for: called by several threads at once") {
  const ThreadCount threads(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> users;
  for (int user = 0; user < 6; ++user) {
    users.emplace_back([&wrong] {
      for (int i = 0; i < 50; ++i) wrong += visits(97, 4) == std::vector<int>(97, 1) ? 0 : 1;
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(wrong == 0);
}

namespace {

/// Who ran the chunks of parallel_for for each of eight users with threads of their own.
struct Crowd {
  std::set<std::thread::id> helpers{};  ///< that are no user's own thread
  std::size_t most_users_helped = 0;    ///< at the same time
  std::size_t most_helpers = 0;         ///< of one call
  int wrong = 0;                        ///< calls that missed a chunk, or strayed to another user
};

Crowd crowd_of_eight(int rounds) {
  Crowd crowd;
  std::mutex mutex;
  std::set<std::thread::id> users;
  std::map<int, int> helped;  // chunks that helpers are running now, by user
  const auto one_call = [&](int user) {
    const std::thread::id own = std::this_thread::get_id();
    std::set<std::thread::id> helpers;
    std::vector<std::atomic<int>> visits(24);
    parallel_for(24, 1, [&](Index begin, Index) {
      const std::thread::id self = std::this_thread::get_id();
      if (self != own) {
        const std::scoped_lock lock(mutex);
        if (users.contains(self)) ++crowd.wrong;
        helpers.insert(self);
        ++helped[user];
        crowd.most_users_helped = std::max(crowd.most_users_helped, helped.size());
      }
      ++visits[static_cast<std::size_t>(begin)];
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (self != own) {
        const std::scoped_lock lock(mutex);
        if (--helped[user] == 0) helped.erase(user);
      }
    });
    const std::scoped_lock lock(mutex);
    crowd.helpers.insert(helpers.begin(), helpers.end());
    crowd.most_helpers = std::max(crowd.most_helpers, helpers.size());
    for (const std::atomic<int>& count : visits) crowd.wrong += count == 1 ? 0 : 1;
  };
  std::vector<std::thread> threads;
  for (int user = 0; user < 8; ++user) {
    threads.emplace_back([&, user] {
      {
        const std::scoped_lock lock(mutex);
        users.insert(std::this_thread::get_id());
      }
      for (int i = 0; i < rounds; ++i) one_call(user);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return crowd;
}

}  // namespace

// However many users there are, the helpers stay as few as was said, and help one user at a time.
TEST_CASE("parallel_for: eight users in a process of their own", "[.crowd-child]") {
  if (!is_child()) return;
  const Crowd three = crowd_of_eight(20);
  std::cout << "helpers " << three.helpers.size() << ", users helped at once "
            << three.most_users_helped << ", wrong " << three.wrong << "\n";
  set_num_threads(1);
  std::cout << "alone: helpers " << crowd_of_eight(5).helpers.size() << "\n";
  set_num_threads(2);
  const Crowd two = crowd_of_eight(20);
  std::cout << "two: helpers of a call " << two.most_helpers << ", wrong " << two.wrong << "\n";
}

TEST_CASE("parallel_for: eight users share the helpers that the setter allows") {
  using Catch::Matchers::ContainsSubstring;
  for (const char* omp : {"-u OMP_NUM_THREADS", "OMP_NUM_THREADS=1", "OMP_NUM_THREADS=8"}) {
    const ChildResult child =
        run_child(std::string(omp) + " GRADUS_NUM_THREADS=3", "[.crowd-child]");
    INFO(child.output);
    CHECK(child.exit_code == 0);
    CHECK_THAT(child.output, ContainsSubstring("helpers 2, users helped at once 1, wrong 0\n"));
    CHECK_THAT(child.output, ContainsSubstring("alone: helpers 0\n"));
    CHECK_THAT(child.output, ContainsSubstring("two: helpers of a call 1, wrong 0\n"));
  }
}

TEST_CASE("parallel_for: each of several users gets the exception of its own chunks") {
  const ThreadCount threads(4);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> users;
  for (int user = 0; user < 8; ++user) {
    users.emplace_back([&wrong, user] {
      for (int i = 0; i < 50; ++i) {
        const std::string mine = "user " + std::to_string(user);
        try {
          parallel_for(40, 1, [&](Index begin, Index) {
            if (begin == 7 * user % 40) throw std::runtime_error(mine);
          });
          ++wrong;
        } catch (const std::runtime_error& error) {
          if (error.what() != mine) ++wrong;
        }
      }
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(wrong == 0);
  CHECK(visits(97, 4) == std::vector<int>(97, 1));
}

TEST_CASE("set_num_threads: counts from 1") {
  const int before = num_threads();
  CHECK(error_text<ValueError>([] { set_num_threads(0); }) ==
        "set_num_threads: needs at least 1, not 0");
  CHECK(error_text<ValueError>([] { set_num_threads(-3); }) ==
        "set_num_threads: needs at least 1, not -3");
  CHECK(num_threads() == before);
  const ThreadCount threads(5);
  CHECK(num_threads() == 5);
}

// Run by the test below in processes of its own.
TEST_CASE("parallel: prints the number of threads", "[.threads-child]") {
  if (!is_child()) return;
  try {
    std::cout << "threads " << num_threads() << "\n";
  } catch (const ValueError& error) {
    std::cout << "refused " << error.what() << "\n";
  }
}

TEST_CASE("parallel: GRADUS_NUM_THREADS at start") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(run_child("GRADUS_NUM_THREADS=3", "[.threads-child]").output,
             ContainsSubstring("threads 3\n"));
  CHECK_THAT(run_child("GRADUS_NUM_THREADS=''", "[.threads-child]").output,
             ContainsSubstring("threads "));  // as if it were not set
  for (const std::string wrong : {"0", "-1", "two", "2x", "99999999999999999999"}) {
    CHECK_THAT(
        run_child("GRADUS_NUM_THREADS=" + wrong, "[.threads-child]").output,
        ContainsSubstring("refused GRADUS_NUM_THREADS: needs a number from 1 to 1024, not '" +
                          wrong + "'"));
  }
}
