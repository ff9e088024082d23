#include "framework/core/storage.h"

#include <limits>
#include <new>

#include "framework/core/memory.h"

namespace gradus {

Ref<Storage> Storage::make(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - sizeof(Storage)) throw std::bad_alloc();
  auto* block = static_cast<std::byte*>(allocate_block(sizeof(Storage) + bytes));
  return new (block) Storage(block + sizeof(Storage), bytes);
}

void release(Storage* storage) noexcept {
  if (!storage->drop_ref()) return;
  const std::size_t bytes = sizeof(Storage) + storage->bytes();
  storage->~Storage();
  free_block(storage, bytes);
}

void Storage::mark_changed(const char* op) noexcept {
  changed_by_.store(op, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace gradus
