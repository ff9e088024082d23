#include "allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
#include <malloc.h>
#else
#define COUNTS_ALLOCATIONS 0
#endif

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> call_count{0};
std::atomic<std::int64_t> bytes_in_use{0};
std::atomic<std::int64_t> most_bytes_in_use{0};

}  // namespace

CountAllocations::CountAllocations() {
  call_count = 0;
  bytes_in_use = 0;
  most_bytes_in_use = 0;
  counting = true;
}

CountAllocations::~CountAllocations() { counting = false; }

bool CountAllocations::available() { return COUNTS_ALLOCATIONS; }

std::int64_t CountAllocations::calls() const { return call_count; }

std::int64_t CountAllocations::peak_bytes() const { return most_bytes_in_use; }

#if COUNTS_ALLOCATIONS

namespace {

void* taken(void* block) {
  if (!counting.load(std::memory_order_relaxed) || !block) return block;
  call_count.fetch_add(1, std::memory_order_relaxed);
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  const std::int64_t now = bytes_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t most = most_bytes_in_use.load(std::memory_order_relaxed);
  while (now > most && !most_bytes_in_use.compare_exchange_weak(most, now)) {
  }
  return block;
}

void given_back(void* block) {
  if (!counting.load(std::memory_order_relaxed) || !block) return;
  bytes_in_use.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)),
                         std::memory_order_relaxed);
}

}  // namespace

// glibc lets a program define these itself, and keeps its own under other names. operator new and
// everything else that takes memory from the heap ends here.
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) { return taken(__libc_malloc(bytes)); }

void* calloc(std::size_t count, std::size_t bytes) { return taken(__libc_calloc(count, bytes)); }

void* realloc(void* block, std::size_t bytes) {
  given_back(block);
  return taken(__libc_realloc(block, bytes));
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  return taken(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}

void free(void* block) {
  given_back(block);
  __libc_free(block);
}

}  // extern "C"

#endif
