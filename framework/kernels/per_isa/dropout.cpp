// Dropout: which elements go is a matter of their places alone (philox.h).
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/philox.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
void dropout_of(Index count, const Dropping& dropping, T* out, const T* x) {
  const T scale = static_cast<T>(dropping.scale);
  parallel_for(count, kChunk, [&](Index first, Index last) {
    for_each_dropped(
        dropping, static_cast<std::uint64_t>(first), last - first,
        [&](Index i, bool dropped) { out[first + i] = dropped ? T{0} : x[first + i] * scale; });
  });
}

void dropout(DType dtype, Index count, double p, std::uint64_t key, void* out, const void* x) {
  for_floating(dtype, [&]<class T>(T*) {
    dropout_of(count, Dropping(p, key), static_cast<T*>(out), static_cast<const T*>(x));
  });
}

}  // namespace

void fill_dropout(Table& table) { table.dropout = dropout; }

}  // namespace gradus::kernels::GRADUS_ISA
