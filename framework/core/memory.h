// Memory: blocks for tensors and for the steps of tapes. Freed blocks are kept and given out again,
// so that a training step, which asks for the same sizes as the one before, makes no call to
// malloc, and touches no page for the first time.
#pragma once

#include <cstddef>
#include <new>

namespace gradus {

/// A block of at least `bytes`, 64-byte aligned, uninitialised. Throws std::bad_alloc.
void* allocate_block(std::size_t bytes);
/// Gives a block back, from any thread; `bytes` must be what it was asked for with.
void free_block(void* block, std::size_t bytes) noexcept;

/// Hands the blocks that are kept for reuse back to the system: those of this thread, and the
/// large ones, which all threads share. Nothing in use is touched.
void release_cached_memory() noexcept;

/// Base of objects that live in such blocks.
struct InBlocks {
  static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
  static void* operator new(std::size_t /*bytes*/, void* place) noexcept { return place; }
  static void operator delete(void* object, std::size_t bytes) noexcept {
    free_block(object, bytes);
  }
};

/// An allocator for containers whose nodes come and go with every step.
template <class T>
struct BlockAllocator {
  using value_type = T;

  BlockAllocator() = default;
  template <class Other>
  BlockAllocator(const BlockAllocator<Other>& /*other*/) noexcept {}  // NOLINT: all are alike

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_block(count * sizeof(T)));
  }
  void deallocate(T* items, std::size_t count) noexcept { free_block(items, count * sizeof(T)); }

  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

}  // namespace gradus
