#include "framework/core/memory.h"

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

using namespace gradus;

namespace {

constexpr std::size_t kSizes[] = {0,    1,    63,    64,    65,        1024,         1025,
                                  2048, 2049, 32768, 32769, 1'000'000, 8'388'608 + 1};

struct Block {
  std::byte* bytes;
  std::size_t size;
};

Block filled_block(std::size_t size, int value) {
  auto* bytes = static_cast<std::byte*>(allocate_block(size));
  std::memset(bytes, value, size);
  return {bytes, size};
}

bool holds(const Block& block, int value) {
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.bytes[i] != static_cast<std::byte>(value)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("blocks of any size are aligned, and theirs alone") {
  for (int round = 0; round < 3; ++round) {  // from the system at first, and then used again
    std::vector<Block> blocks;
    for (const std::size_t size : kSizes) {
      for (int i = 0; i < 3; ++i) {
        blocks.push_back(filled_block(size, static_cast<int>(blocks.size())));
      }
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      CHECK(reinterpret_cast<std::uintptr_t>(blocks[i].bytes) % 64 == 0);
      CHECK(holds(blocks[i], static_cast<int>(i)));
      free_block(blocks[i].bytes, blocks[i].size);
    }
  }
  release_cached_memory();
}

TEST_CASE("a block may be freed on another thread, and after its own thread has ended") {
  std::vector<Block> blocks;
  std::thread([&] {
    for (const std::size_t size : kSizes) blocks.push_back(filled_block(size, 7));
  }).join();
  for (const Block& block : blocks) {
    CHECK(holds(block, 7));
    free_block(block.bytes, block.size);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which end where new throws
TEST_CASE("more memory than there is: bad_alloc, and the next request is served") {
  constexpr std::size_t huge = std::size_t{1} << 62;
  CHECK_THROWS_AS(allocate_block(huge), std::bad_alloc);
  CHECK_THROWS_AS(allocate_block(std::size_t{1} << 45), std::bad_alloc);
  const Block block = filled_block(100'000, 3);
  CHECK(holds(block, 3));
  free_block(block.bytes, block.size);
}
#endif
