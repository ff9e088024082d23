// The arithmetic of an optimiser's step, over all parameters at once.
#include <cmath>

#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

/// Calls body(item, begin, end) for what lies of each item between the elements `first` and `last`
/// of all of them, one item after the other.
template <class Item, class Body>
void for_parts(const Item* items, Index count, Index first, Index last, const Body& body) {
  Index start = 0;
  for (Index i = 0; i < count && start < last; ++i) {
    const Index size = items[i].count;
    const Index begin = first > start ? first - start : 0;
    const Index end = last - start < size ? last - start : size;
    if (begin < end) body(items[i], begin, end);
    start += size;
  }
}

template <class Item>
Index elements_of(const Item* items, Index count) {
  Index elements = 0;
  for (Index i = 0; i < count; ++i) elements += items[i].count;
  return elements;
}

/// Calls apply(T*, update, begin, end), threads sharing out the elements of all updates.
template <class Update, class Apply>
void share_out(const Update* updates, Index count, const Apply& apply) {
  parallel_for(elements_of(updates, count), kShare, [&](Index first, Index last) {
    for_parts(updates, count, first, last, [&](const Update& update, Index begin, Index end) {
      for_floating(update.dtype, [&](auto* type) { apply(type, update, begin, end); });
    });
  });
}

template <class T>
void adam_of(const AdamUpdate& update, Index begin, Index end) {
  const AdamStep& step = update.step;
  const T beta1 = static_cast<T>(step.beta1);
  const T beta2 = static_cast<T>(step.beta2);
  const T rest1 = static_cast<T>(1 - step.beta1);
  const T rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.rate);
  const T second_scale = static_cast<T>(step.second_scale);
  const T eps = static_cast<T>(step.eps);
  const T decay = static_cast<T>(step.gradient_decay);
  const T kept = static_cast<T>(1 - step.shrinkage);
  T* p = static_cast<T*>(update.p);
  const T* g = static_cast<const T*>(update.g);
  T* m = static_cast<T*>(update.m);
  T* v = static_cast<T*>(update.v);
  T* largest = static_cast<T*>(update.largest);
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
}

void adam(const AdamUpdate* updates, Index count) {
  share_out(updates, count, []<class T>(T*, const AdamUpdate& update, Index begin, Index end) {
    adam_of<T>(update, begin, end);
  });
}

template <class T>
void sgd_of(const SgdUpdate& update, Index begin, Index end) {
  const SgdStep& step = update.step;
  const T rate = static_cast<T>(step.rate);
  const T kept = static_cast<T>(step.momentum);
  const T new_share = static_cast<T>(step.new_share);
  const T decay = static_cast<T>(step.weight_decay);
  T* p = static_cast<T*>(update.p);
  const T* g = static_cast<const T*>(update.g);
  T* momentum = static_cast<T*>(update.momentum);
  for (Index i = begin; i < end; ++i) {
    const T gradient = g[i] + decay * p[i];
    T direction = gradient;
    if (momentum) {
      momentum[i] = kept * momentum[i] + new_share * gradient;
      direction = step.nesterov ? gradient + kept * momentum[i] : momentum[i];
    }
    p[i] -= rate * direction;
  }
}

void sgd(const SgdUpdate* updates, Index count) {
  share_out(updates, count, []<class T>(T*, const SgdUpdate& update, Index begin, Index end) {
    sgd_of<T>(update, begin, end);
  });
}

void sum_squares(const Floats* arrays, Index count, double* sums) {
  parallel_for(elements_of(arrays, count), kShare, [&](Index first, Index last) {
    double sum = 0;
    for_parts(arrays, count, first, last, [&](const Floats& array, Index begin, Index end) {
      sum += sum_over<double>(end - begin, [&](Index i) {
        const double x = array.data[begin + i];
        return x * x;
      });
    });
    sums[first / kShare] = sum;
  });
}

}  // namespace

void fill_optimizers(Table& table) {
  table.adam = adam;
  table.sgd = sgd;
  table.sum_squares = sum_squares;
}

}  // namespace gradus::kernels::GRADUS_ISA
