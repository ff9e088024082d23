// Parallel: one pool of threads for all kernels, with chunk boundaries that do not depend on how
// many threads there are, so that results do not either.
#pragma once

#include <type_traits>

#include "framework/core/dtype.h"

namespace gradus {

/// Threads that work on a large kernel, the caller included: GRADUS_NUM_THREADS at start, else the
/// number of processors.
int num_threads();
/// Throws ValueError for count < 1. Takes effect from the next kernel on.
void set_num_threads(int count);

namespace detail {
using ChunkFunction = void (*)(const void* body, Index begin, Index end);
void run_chunks(Index count, Index chunk, ChunkFunction function, const void* body);
}  // namespace detail

/// Calls body(begin, end) for consecutive chunks of 0..count, the chunks `chunk` long except the
/// last, on several threads where there is more than one chunk. Chunks may run in any order. Called
/// from inside a chunk it runs its own chunks on that thread. Rethrows the first exception.
template <class Body>
void parallel_for(Index count, Index chunk, const Body& body) {
  if (count <= 0) return;
  if (count <= chunk) {
    body(Index{0}, count);
    return;
  }
  detail::run_chunks(
      count, chunk,
      [](const void* object, Index begin, Index end) {
        (*static_cast<const Body*>(object))(begin, end);
      },
      &body);
}

}  // namespace gradus
