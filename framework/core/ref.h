// Ref: a counted pointer whose count lives in the object, so that a handle is one word.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace gradus {

/// Base of objects held by Ref. Counting is atomic: handles may be copied on any thread.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void add_ref() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True when the caller gave up the last reference and must destroy the object.
  bool drop_ref() const noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
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
