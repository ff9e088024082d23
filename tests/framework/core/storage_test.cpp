#include "framework/core/storage.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "framework/core/ref.h"
#include "tests/support/catch.h"

using namespace gradus;

TEST_CASE("storage: aligned memory, also of no bytes") {
  for (const std::size_t bytes : {0U, 1U, 63U, 4096U}) {
    const Ref<Storage> storage(Storage::make(bytes));
    CHECK(storage->bytes() == bytes);
    CHECK(storage->data() != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(storage->data()) % 64 == 0);
  }
}

TEST_CASE("storage: counts changes and remembers the last") {
  const Ref<Storage> storage(Storage::make(8));
  CHECK(storage->version() == 0);
  CHECK(std::string(storage->changed_by()).empty());
  storage->mark_changed("fill_");
  storage->mark_changed("add_");
  CHECK(storage->version() == 2);
  CHECK(std::string(storage->changed_by()) == "add_");
}

TEST_CASE("ref: counts its handles") {
  Ref<Storage> a(Storage::make(8));
  CHECK(a->ref_count() == 1);
  Ref<Storage> b = a;
  CHECK(a->ref_count() == 2);
  CHECK(a == b);
  Ref<Storage> c = std::move(b);
  CHECK(a->ref_count() == 2);
  CHECK_FALSE(b);  // NOLINT: what a move leaves
  const Ref<Storage>& itself = c;
  c = itself;
  CHECK(a->ref_count() == 2);
  c = Ref<Storage>();
  CHECK(a->ref_count() == 1);
  CHECK_FALSE(c);
}

TEST_CASE("ref: handles may be copied on any thread") {
  const Ref<Storage> shared(Storage::make(8));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 10000; ++i) const Ref<Storage> copy = shared;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared->ref_count() == 1);
}
