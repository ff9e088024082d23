// Ref: a counted pointer whose count lives in the object, so that a handle is one word.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace gradus {

/// True while the process has had one thread only, where that can be known.
inline bool is_single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded;
#else
  return false;
#endif
}

/// Base of objects held by Ref. Handles may be copied on any thread; the count is changed by an
/// atomic operation, which costs several plain ones, only where there is a second thread.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void add_ref() const noexcept {
    if (is_single_threaded()) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// True when the caller gave up the last reference and must destroy the object.
  bool drop_ref() const noexcept {
    if (!is_single_threaded()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const std::uint32_t left = count_.load(std::memory_order_relaxed) - 1;
    count_.store(left, std::memory_order_relaxed);
    return left == 0;
  }
  std::uint32_t ref_count() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<std::uint32_t> count_{0};
};

/// A shared handle to a T. `retain(T*)` and `release(T*)` are found beside T, so that T may be
/// incomplete here and may choose how it dies.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* object) noexcept : object_(object) {  // NOLINT: a new object becomes its first handle
    if (object_) retain(object_);
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) release(object_);
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace gradus
