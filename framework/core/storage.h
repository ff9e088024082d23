// Storage: the block of memory that a tensor and its views share, with a version that counts the
// changes made in place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/core/ref.h"

namespace gradus {

class Storage;
void retain(Storage* storage) noexcept;
void release(Storage* storage) noexcept;

class alignas(64) Storage : public RefCounted {
 public:
  /// 64-byte aligned, uninitialised. Throws std::bad_alloc.
  static Ref<Storage> make(std::size_t bytes);

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// How often the contents were changed in place, and the op that did it last.
  std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  const char* changed_by() const noexcept { return changed_by_.load(std::memory_order_acquire); }
  /// Notes a change; `op` must be a string that lives for ever.
  void mark_changed(const char* op) noexcept;

 private:
  friend void release(Storage* storage) noexcept;
  Storage(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_;  // right behind this object, in one block with it
  std::size_t bytes_;
  std::atomic<std::uint32_t> version_{0};
  std::atomic<const char*> changed_by_{""};
};

inline void retain(Storage* storage) noexcept { storage->add_ref(); }

}  // namespace gradus
