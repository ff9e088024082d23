#include "framework/core/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

namespace gradus {
namespace {

constexpr std::align_val_t kAlignment{64};

// Sizes go up in steps of 64 bytes at first, and then eight to a doubling, so that at most an
// eighth of a block is not used.
constexpr std::size_t kStep = 64;
constexpr std::size_t kEvenSizes = 16;  // 64, 128, ... 1024
constexpr std::size_t kPerDoubling = 8;
constexpr std::size_t kFirstDoubling = 10;                                // 2^10 = 1024
constexpr std::size_t kLastDoubling = sizeof(std::size_t) > 4 ? 46 : 30;  // beyond: nothing kept

constexpr std::size_t kLargest = std::size_t{1} << kLastDoubling;
constexpr std::size_t kSizes = kEvenSizes + (kLastDoubling - kFirstDoubling) * kPerDoubling;
constexpr std::size_t kSmall = 32 * 1024;  // up to here each thread keeps blocks of its own
constexpr std::size_t kKeptByThread = 32 * 1024 * 1024;
constexpr std::size_t kKeptAtLeast = 64 * 1024 * 1024;

/// The number of the smallest size that holds this many bytes.
constexpr std::size_t size_number(std::size_t bytes) {
  if (bytes <= kStep * kEvenSizes) return bytes == 0 ? 0 : (bytes - 1) / kStep;
  const auto doubling = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t part = (bytes - 1) >> (doubling - 3);  // 8 .. 15
  return kEvenSizes + (doubling - kFirstDoubling) * kPerDoubling + part - kPerDoubling;
}

constexpr std::size_t bytes_of_size(std::size_t number) {
  if (number < kEvenSizes) return (number + 1) * kStep;
  const std::size_t doubling = (number - kEvenSizes) / kPerDoubling + kFirstDoubling;
  const std::size_t part = (number - kEvenSizes) % kPerDoubling + kPerDoubling + 1;
  return part << (doubling - 3);
}

static_assert(bytes_of_size(size_number(1)) == 64 && bytes_of_size(size_number(1024)) == 1024);
static_assert(bytes_of_size(size_number(1025)) == 1152 && bytes_of_size(size_number(2049)) == 2304);
static_assert(size_number(kLargest) == kSizes - 1 && bytes_of_size(kSizes - 1) == kLargest);

/// Freed blocks, one list for each size. The first bytes of a block point to the next.
template <std::size_t Sizes>
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
    for (std::size_t number = Sizes; number-- > 0 && bytes_ > bytes;) {
      while (bytes_ > bytes && heads_[number]) ::operator delete(take(number), kAlignment);
    }
  }

 private:
  struct Link {
    Link* next;
  };
  std::array<Link*, Sizes> heads_{};
  std::size_t bytes_ = 0;
};

// ---- small blocks: lists of each thread's own, without a lock ----

FreeLists<size_number(kSmall) + 1>& own_blocks() {
  constinit thread_local FreeLists<size_number(kSmall) + 1> blocks;
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

// ---- large blocks: one set for all threads ----

/// Keeps large blocks as long as all of them, used or not, stay near the most that was in use.
class LargeBlocks {
 public:
  // Never destroyed: a global tensor may be freed while the process exits.
  static LargeBlocks& instance() {
    static LargeBlocks& blocks = *new LargeBlocks;
    return blocks;
  }

  void* take(std::size_t number) {
    const std::scoped_lock lock(mutex_);
    used_ += bytes_of_size(number);
    most_used_ = std::max(most_used_, used_);
    void* block = kept_.take(number);
    if (!block) shrink();
    return block;
  }
  void keep(void* block, std::size_t number) {
    const std::scoped_lock lock(mutex_);
    used_ -= bytes_of_size(number);
    kept_.keep(block, number);
    shrink();
  }
  void never_used(std::size_t number) {
    const std::scoped_lock lock(mutex_);
    used_ -= bytes_of_size(number);
  }
  void release_all() {
    const std::scoped_lock lock(mutex_);
    kept_.shrink_to(0);
    most_used_ = used_;
  }

 private:
  void shrink() {
    const std::size_t limit = std::max(most_used_ + most_used_ / 8, kKeptAtLeast);
    kept_.shrink_to(limit - std::min(limit, used_));
  }

  std::mutex mutex_;
  FreeLists<kSizes> kept_;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
};

/// A new block; where memory is short, what is kept for reuse goes first.
void* from_system(std::size_t bytes) {
  if (void* block = ::operator new(bytes, kAlignment, std::nothrow)) return block;
  release_cached_memory();
  return ::operator new(bytes, kAlignment);
}

void* allocate_large(std::size_t bytes) {
  if (bytes > kLargest) return from_system(bytes);
  const std::size_t number = size_number(bytes);
  if (void* block = LargeBlocks::instance().take(number)) return block;
  try {
    return from_system(bytes_of_size(number));
  } catch (...) {
    LargeBlocks::instance().never_used(number);
    throw;
  }
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
  if (!kReuse || bytes > kLargest) return ::operator delete(block, kAlignment);
  const std::size_t number = size_number(bytes);
  if (bytes > kSmall) return LargeBlocks::instance().keep(block, number);
  keep_own(block, number);
}

void release_cached_memory() noexcept {
  own_blocks().shrink_to(0);
  LargeBlocks::instance().release_all();
}

}  // namespace gradus
