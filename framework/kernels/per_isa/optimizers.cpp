// The arithmetic of an optimiser's step, over one parameter.
#include <cmath>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
void adam_of(Index count, const AdamStep& step, T* p, const T* g, T* m, T* v, T* largest) {
  const T beta1 = static_cast<T>(step.beta1);
  const T beta2 = static_cast<T>(step.beta2);
  const T rest1 = static_cast<T>(1 - step.beta1);
  const T rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.rate);
  const T second_scale = static_cast<T>(step.second_scale);
  const T eps = static_cast<T>(step.eps);
  const T decay = static_cast<T>(step.gradient_decay);
  const T kept = static_cast<T>(1 - step.shrinkage);
  parallel_for(count, kChunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const T gradient = g[i] + decay * p[i];
      m[i] = beta1 * m[i] + rest1 * gradient;
      v[i] = beta2 * v[i] + rest2 * gradient * gradient;
      T second = v[i];
      if (largest) {
        second = largest[i] > second ? largest[i] : second;
        largest[i] = second;
      }
      p[i] = kept * p[i] - rate * m[i] / (std::sqrt(second) * second_scale + eps);
    }
  });
}

void adam(DType dtype, Index count, AdamStep step, void* p, const void* g, void* m, void* v,
          void* largest) {
  for_floating(dtype, [&]<class T>(T*) {
    adam_of(count, step, static_cast<T*>(p), static_cast<const T*>(g), static_cast<T*>(m),
            static_cast<T*>(v), static_cast<T*>(largest));
  });
}

template <class T>
void sgd_of(Index count, const SgdStep& step, T* p, const T* g, T* momentum) {
  const T rate = static_cast<T>(step.rate);
  const T kept = static_cast<T>(step.momentum);
  const T new_share = static_cast<T>(step.new_share);
  const T decay = static_cast<T>(step.weight_decay);
  parallel_for(count, kChunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const T gradient = g[i] + decay * p[i];
      momentum[i] = kept * momentum[i] + new_share * gradient;
      p[i] -= rate * (step.nesterov ? gradient + kept * momentum[i] : momentum[i]);
    }
  });
}

void sgd(DType dtype, Index count, SgdStep step, void* p, const void* g, void* momentum) {
  for_floating(dtype, [&]<class T>(T*) {
    sgd_of(count, step, static_cast<T*>(p), static_cast<const T*>(g), static_cast<T*>(momentum));
  });
}

}  // namespace

void fill_optimizers(Table& table) {
  table.adam = adam;
  table.sgd = sgd;
}

}  // namespace gradus::kernels::GRADUS_ISA
