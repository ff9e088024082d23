// The heap of large blocks: no two overlap, what is free is whole again, and where a block lies
// depends on what is in use alone.
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "framework/core/heap_internal.h"
#include "tests/support/catch.h"

using namespace gradus;

namespace {

constexpr std::align_val_t kAlignment{Heap::kAlignment};

/// A heap, and the regions that it was given.
class Owned {
 public:
  Heap heap;

  void* take_new(std::size_t bytes) {
    const std::size_t size = Heap::region_size(bytes);
    regions_.emplace_back(::operator new(size, kAlignment));
    heap.add_region(regions_.back().get(), size);
    return heap.take(bytes);
  }
  void* take(std::size_t bytes) {
    void* block = heap.take(bytes);
    return block ? block : take_new(bytes);
  }

 private:
  struct Delete {
    void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::vector<std::unique_ptr<void, Delete>> regions_;
};

struct Block {
  std::byte* bytes;
  std::size_t size;
  std::byte value;
};

bool is_untouched(const Block& block) {
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.bytes[i] != block.value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("heap: neighbours that are free become one piece again", "[memory]") {
  Owned owned;
  Heap& heap = owned.heap;
  void* whole = owned.take_new(100'000);
  CHECK(heap.free_bytes() == 0);
  CHECK(heap.take(5000) == nullptr);
  heap.give_back(whole);
  CHECK(heap.free_bytes() == heap.region_bytes());

  const std::size_t order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& freed : order) {
    void* parts[] = {heap.take(20'000), heap.take(20'000), heap.take(20'000)};
    CHECK(parts[0] == whole);
    CHECK(heap.take(60'000) == nullptr);
    for (const std::size_t i : freed) heap.give_back(parts[i]);
    CHECK(heap.free_bytes() == heap.region_bytes());
    CHECK(heap.take(100'000) == whole);
    heap.give_back(whole);
  }
}

TEST_CASE("heap: the smallest piece that is large enough, and of equal ones the first",
          "[memory]") {
  Owned owned;
  std::vector<void*> blocks;
  for (const unsigned size : {80'000U, 50'000U, 60'000U, 50'000U}) {
    blocks.push_back(owned.take_new(size));
  }
  const std::vector<void*> taken = blocks;
  for (const std::size_t i : {3U, 0U, 2U, 1U}) owned.heap.give_back(blocks[i]);
  CHECK(owned.heap.take(50'000) == std::min(taken[1], taken[3]));
  CHECK(owned.heap.take(50'000) == std::max(taken[1], taken[3]));
  CHECK(owned.heap.take(50'000) == taken[2]);
  CHECK(owned.heap.take(50'000) == taken[0]);
}

TEST_CASE("heap: only a region that is free throughout leaves", "[memory]") {
  Owned owned;
  Heap& heap = owned.heap;
  void* large = owned.take_new(90'000);
  void* middle = owned.take_new(40'000);
  CHECK(heap.remove_free_region() == nullptr);
  heap.give_back(large);
  heap.give_back(middle);
  void* inside = heap.take(50'000);  // of the large one
  CHECK(heap.remove_free_region() != nullptr);
  CHECK(heap.remove_free_region() == nullptr);
  CHECK(heap.region_bytes() == Heap::region_size(90'000));
  heap.give_back(inside);
  CHECK(heap.remove_free_region() != nullptr);
  CHECK(heap.region_bytes() == 0);
  CHECK(heap.free_bytes() == 0);
  CHECK(heap.take(5000) == nullptr);
}

TEST_CASE("heap: blocks taken and given back at random are theirs alone", "[memory]") {
  std::mt19937 random(7);
  Owned owned;
  std::vector<Block> blocks;
  for (int turn = 0; turn < 4000; ++turn) {
    if (blocks.size() < 40 && random() % 2 == 0) {
      const std::size_t size = 4097 + random() % 60'000;
      const Block block{static_cast<std::byte*>(owned.take(size)), size,
                        static_cast<std::byte>(random())};
      REQUIRE(reinterpret_cast<std::uintptr_t>(block.bytes) % Heap::kAlignment == 0);
      std::memset(block.bytes, static_cast<int>(block.value), size);
      blocks.push_back(block);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      REQUIRE(is_untouched(blocks.back()));
      owned.heap.give_back(blocks.back().bytes);
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) owned.heap.give_back(block.bytes);
  CHECK(owned.heap.free_bytes() == owned.heap.region_bytes());
}

TEST_CASE("heap: the same requests, whatever came before, lie in the same places", "[memory]") {
  std::mt19937 random(9);
  Owned owned;
  const auto requests = [&](unsigned seed) {
    std::mt19937 sizes(seed);
    std::vector<void*> blocks;
    for (int i = 0; i < 30; ++i) blocks.push_back(owned.take(4097 + sizes() % 30'000));
    return blocks;
  };
  const auto give_back = [&](std::vector<void*> blocks) {
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (void* block : blocks) owned.heap.give_back(block);
  };
  give_back(requests(1));
  const std::vector<void*> first = requests(1);
  give_back(first);
  for (int round = 0; round < 10; ++round) {
    const std::vector<void*> again = requests(1);
    CHECK(again == first);
    give_back(again);
  }
}

// What it remembers of its pieces comes from operator new, which a test cannot ask; a leak of it
// shows as memory of the process.
TEST_CASE("heap: blocks that come and go leave nothing behind", "[memory]") {
  const auto resident = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // in KiB
  };
  Owned owned;
  Heap& heap = owned.heap;
  heap.give_back(owned.take_new(100'000));
  const auto before = resident();
  for (int turn = 0; turn < 300'000; ++turn) {
    void* first = heap.take(20'000);
    void* second = heap.take(20'000);
    heap.give_back(first);
    heap.give_back(second);  // joins what is free before it, and behind it
  }
  CHECK(resident() - before < 4096);
}
