#include "framework/core/memory.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "framework/core/heap_internal.h"

namespace gradus {
namespace {

constexpr std::align_val_t kAlignment{Heap::kAlignment};

// Up to here each thread keeps blocks of its own, of sizes in steps of 64 bytes.
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kStep = 64;
constexpr std::size_t kSizes = kSmall / kStep;
constexpr std::size_t kKeptByThread = 32 * 1024 * 1024;
constexpr std::size_t kKeptAtLeast = 64 * 1024 * 1024;

/// The number of the smallest size that holds this many bytes.
constexpr std::size_t size_number(std::size_t bytes) {
  return bytes == 0 ? 0 : (bytes - 1) / kStep;
}
constexpr std::size_t bytes_of_size(std::size_t number) { return (number + 1) * kStep; }

/// Freed blocks, one list for each size. The first bytes of a block point to the next.
class FreeLists {
 public:
  void* take(std::size_t number) {
    Link* block = heads_[number];
    if (!block) return nullptr;
    heads_[number] = block->next;
    bytes_ -= bytes_of_size(number);
    return block;
  }
  void keep(void* block, std::size_t number) {
    heads_[number] = new (block) Link{heads_[number]};
    bytes_ += bytes_of_size(number);
  }
  std::size_t bytes() const { return bytes_; }
  /// Gives blocks to the system, the largest first, until at most `bytes` are left.
  void shrink_to(std::size_t bytes) {
    for (std::size_t number = kSizes; number-- > 0 && bytes_ > bytes;) {
      while (bytes_ > bytes && heads_[number]) ::operator delete(take(number), kAlignment);
    }
  }

 private:
  struct Link {
    Link* next;
  };
  std::array<Link*, kSizes> heads_{};
  std::size_t bytes_ = 0;
};

// ---- small blocks: lists of each thread's own, without a lock ----

FreeLists& own_blocks() {
  constinit thread_local FreeLists blocks;
  return blocks;
}

// Tensors that outlive their thread's lists, as globals do, bypass them.
constinit thread_local bool thread_has_ended = false;
struct AtThreadEnd {
  ~AtThreadEnd() {
    own_blocks().shrink_to(0);
    thread_has_ended = true;
  }
};

void keep_own(void* block, std::size_t number) {
  thread_local AtThreadEnd at_thread_end;
  static_cast<void>(at_thread_end);
  if (thread_has_ended || own_blocks().bytes() >= kKeptByThread) {
    ::operator delete(block, kAlignment);
  } else {
    own_blocks().keep(block, number);
  }
}

// ---- large blocks: one heap for all threads ----

struct ToSystem {
  void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
};
using Region = std::unique_ptr<void, ToSystem>;

/// Keeps the regions of large blocks as long as all of them, used or not, stay near the most that
/// was in use.
class LargeBlocks {
 public:
  // Never destroyed: a global tensor may be freed while the process exits.
  static LargeBlocks& instance() {
    static LargeBlocks& blocks = *new LargeBlocks;
    return blocks;
  }

  /// Null where no free piece is large enough; there is then room for a new region.
  void* take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    void* block = taken(bytes);
    if (!block) make_room_for(Heap::region_size(bytes));
    return block;
  }
  /// The same with a new region, made for this block.
  void* take_from(Region region, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    heap_.add_region(region.get(), Heap::region_size(bytes));
    static_cast<void>(region.release());
    return taken(bytes);
  }
  void keep(void* block) {
    const std::scoped_lock lock(mutex_);
    heap_.give_back(block);
  }
  void release_all() {
    const std::scoped_lock lock(mutex_);
    shrink_to(0);
    most_used_ = used();
  }

 private:
  std::size_t used() const { return heap_.region_bytes() - heap_.free_bytes(); }

  void* taken(std::size_t bytes) {
    void* block = heap_.take(bytes);
    most_used_ = std::max(most_used_, used());
    return block;
  }
  void make_room_for(std::size_t bytes) {
    const std::size_t most = std::max(most_used_, used() + bytes);
    shrink_to(std::max(most + most / 8, kKeptAtLeast) - bytes);
  }
  void shrink_to(std::size_t bytes) {
    while (heap_.region_bytes() > bytes) {
      if (!Region(heap_.remove_free_region())) return;
    }
  }

  std::mutex mutex_;
  Heap heap_;
  std::size_t most_used_ = 0;
};

/// New memory; where it is short, what is kept for reuse goes first.
void* from_system(std::size_t bytes) {
  if (void* block = ::operator new(bytes, kAlignment, std::nothrow)) return block;
  release_cached_memory();
  return ::operator new(bytes, kAlignment);
}

void* allocate_large(std::size_t bytes) {
  if (bytes > Heap::kMostBytes) throw std::bad_alloc();
  LargeBlocks& blocks = LargeBlocks::instance();
  if (void* block = blocks.take(bytes)) return block;
  return blocks.take_from(Region(from_system(Heap::region_size(bytes))), bytes);
}

// A block that is given out again looks alive to the address sanitizer, and the use of one that was
// freed would go unseen.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kReuse = false;
#elif defined(__has_feature)
constexpr bool kReuse = !__has_feature(address_sanitizer);
#else
constexpr bool kReuse = true;
#endif

}  // namespace

void* allocate_block(std::size_t bytes) {
  if (!kReuse) return ::operator new(std::max<std::size_t>(bytes, 1), kAlignment);
  if (bytes > kSmall) return allocate_large(bytes);
  const std::size_t number = size_number(bytes);
  if (void* block = own_blocks().take(number)) return block;
  return from_system(bytes_of_size(number));
}

void free_block(void* block, std::size_t bytes) noexcept {
  if (!kReuse) return ::operator delete(block, kAlignment);
  if (bytes > kSmall) return LargeBlocks::instance().keep(block);
  keep_own(block, size_number(bytes));
}

void release_cached_memory() noexcept {
  own_blocks().shrink_to(0);
  LargeBlocks::instance().release_all();
}

}  // namespace gradus
