// The arithmetic of an optimiser's step, over one parameter.
#include <cmath>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
void adam_of(Index count, const AdamStep& step, T* p, const T* g, T* m, T* v) {
  const T beta1 = static_cast<T>(step.beta1);
  const T beta2 = static_cast<T>(step.beta2);
  const T rest1 = static_cast<T>(1 - step.beta1);
  const T rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.rate);
  const T second_scale = static_cast<T>(step.second_scale);
  const T eps = static_cast<T>(step.eps);
  const T decay = static_cast<T>(step.weight_decay);
  parallel_for(count, kChunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const T gradient = g[i] + decay * p[i];
      m[i] = beta1 * m[i] + rest1 * gradient;
      v[i] = beta2 * v[i] + rest2 * gradient * gradient;
      p[i] -= rate * m[i] / (std::sqrt(v[i]) * second_scale + eps);
    }
  });
}

void adam(DType dtype, Index count, AdamStep step, void* p, const void* g, void* m, void* v) {
  for_floating(dtype, [&]<class T>(T*) {
    adam_of(count, step, static_cast<T*>(p), static_cast<const T*>(g), static_cast<T*>(m),
            static_cast<T*>(v));
  });
}

}  // namespace

void fill_optimizers(Table& table) { table.adam = adam; }

}  // namespace gradus::kernels::GRADUS_ISA
