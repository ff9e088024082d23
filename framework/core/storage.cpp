#include "framework/core/storage.h"

#include <algorithm>
#include <new>

namespace gradus {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

Storage::Storage(std::size_t bytes)
    : data_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), kAlignment))),
      bytes_(bytes) {}

Storage::~Storage() { ::operator delete(data_, kAlignment); }

void Storage::mark_changed(const char* op) noexcept {
  changed_by_.store(op, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace gradus
