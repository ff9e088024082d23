#include "framework/kernels/scratch.h"

#include <new>

namespace gradus::kernels {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Memory {
  std::byte* bytes;
  std::size_t size;

  void release() {
    ::operator delete(bytes, kAlignment);
    *this = {};
  }
};
constinit thread_local Memory memory_of_this_thread[2] = {};

// Frees the memory with its thread. A kernel that runs later still, for a global tensor, finds
// none, and is given some.
struct AtThreadEnd {
  ~AtThreadEnd() {
    for (Memory& memory : memory_of_this_thread) memory.release();
  }
};

}  // namespace

std::byte* scratch(Scratch use, std::size_t bytes) {
  Memory& memory = memory_of_this_thread[static_cast<int>(use)];
  if (memory.size < bytes) {
    thread_local AtThreadEnd at_thread_end;
    static_cast<void>(at_thread_end);
    memory.release();  // before the new one: the two need not fit side by side
    memory.bytes = static_cast<std::byte*>(::operator new(bytes, kAlignment));
    memory.size = bytes;
  }
  return memory.bytes;
}

}  // namespace gradus::kernels
