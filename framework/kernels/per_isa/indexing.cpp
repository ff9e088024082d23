// Picking elements and rows by index, and adding back to where they came from.
//
// The adding kernels run on one thread: two sources may name the same place, and their sum must not
// depend on who comes first.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// Calls visit(position in the picked array, position in the full one) for all picked elements.
template <class Visit>
void for_each_picked(AxisSplit full, Index picked, const Index* index, Visit visit) {
  Index n = 0;
  for (Index outer = 0; outer < full.outer; ++outer) {
    for (Index j = 0; j < picked; ++j) {
      for (Index inner = 0; inner < full.inner; ++inner, ++n) {
        visit(n, (outer * full.size + index[n]) * full.inner + inner);
      }
    }
  }
}

void gather(DType dtype, AxisSplit split, Index picked, void* out, const void* x,
            const Index* index) {
  for_any(dtype, [&]<class T>(T*) {
    for_each_picked(split, picked, index, [&](Index n, Index place) {
      static_cast<T*>(out)[n] = static_cast<const T*>(x)[place];
    });
  });
}

void scatter_add(DType dtype, AxisSplit split, Index picked, void* out, const void* x,
                 const Index* index) {
  const auto add = [&]<class T>(T*) {
    for_each_picked(split, picked, index, [&](Index n, Index place) {
      static_cast<T*>(out)[place] += static_cast<const T*>(x)[n];
    });
  };
  if (dtype == DType::int64) {
    add(static_cast<std::uint64_t*>(nullptr));
  } else {
    for_floating(dtype, add);
  }
}

void gather_rows(DType dtype, Index count, Index width, void* out, const void* table,
                 const Index* index) {
  for_any(dtype, [&]<class T>(T*) {
    parallel_for(count, at_least_one(kChunk / at_least_one(width)), [&](Index first, Index last) {
      for (Index n = first; n < last; ++n) {
        const T* from = static_cast<const T*>(table) + index[n] * width;
        T* to = static_cast<T*>(out) + n * width;
        for (Index i = 0; i < width; ++i) to[i] = from[i];
      }
    });
  });
}

void scatter_add_rows(DType dtype, Index count, Index width, void* out, const void* x,
                      const Index* index, Index skip) {
  for_floating(dtype, [&]<class T>(T*) {
    for (Index n = 0; n < count; ++n) {
      if (index[n] == skip) continue;
      const T* from = static_cast<const T*>(x) + n * width;
      T* to = static_cast<T*>(out) + index[n] * width;
      for (Index i = 0; i < width; ++i) to[i] += from[i];
    }
  });
}

}  // namespace

void fill_indexing(Table& table) {
  table.gather = gather;
  table.scatter_add = scatter_add;
  table.gather_rows = gather_rows;
  table.scatter_add_rows = scatter_add_rows;
}

}  // namespace gradus::kernels::GRADUS_ISA
