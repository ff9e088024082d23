// What every file of this folder starts from. Each is compiled once per instruction set, with
// GRADUS_ISA naming it, and must leave no symbol that two such builds could share: the linker would
// keep one of them, and a processor might meet instructions that it does not have. So everything is
// local to its file but one function per file in a namespace of the build's own.
#pragma once

#include "framework/kernels/table.h"

#ifndef GRADUS_ISA
#error "GRADUS_ISA must name the instruction set"
#endif

namespace gradus::kernels::GRADUS_ISA {

/// The table of this build.
const Table& table();

void fill_elementwise(Table& table);
void fill_reduce(Table& table);
void fill_softmax(Table& table);
void fill_normalize(Table& table);
void fill_indexing(Table& table);
void fill_matmul(Table& table);
void fill_attention(Table& table);
void fill_attention_backward(Table& table);
void fill_dropout(Table& table);
void fill_optimizers(Table& table);

namespace {

/// Elements that are worth a thread's while, in loops bound by memory or by exp().
constexpr Index kChunk = 16384;

/// Calls f with a null pointer of the element type that dtype names, floating only.
template <class F>
void for_floating(DType dtype, F f) {
  if (dtype == DType::float32) {
    f(static_cast<float*>(nullptr));
  } else {
    f(static_cast<double*>(nullptr));
  }
}

/// The same for every dtype.
template <class F>
void for_any(DType dtype, F f) {
  switch (dtype) {
    case DType::float32: return f(static_cast<float*>(nullptr));
    case DType::float64: return f(static_cast<double*>(nullptr));
    case DType::int64: return f(static_cast<Index*>(nullptr));
    case DType::boolean: return f(static_cast<bool*>(nullptr));
  }
}

constexpr Index at_least_one(Index value) { return value > 1 ? value : 1; }

/// Sums f(i) for i below size: stretches of them as numbers of type Part, in eight independent
/// sums, and the stretches in double, so that a long float32 row does not drift.
template <class Part, class F>
double sum_over(Index size, F f) {
  constexpr Index kLanes = 8;
  constexpr Index kStretch = 512;
  double sum = 0;
  for (Index i = 0; i < size;) {
    const Index end = size - i < kStretch ? size : i + kStretch;
    Part lanes[kLanes] = {};
    for (; i + kLanes <= end; i += kLanes) {
      for (Index lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<Part>(f(i + lane));
    }
    for (const Part lane : lanes) sum += double{lane};
    for (; i < end; ++i) sum += static_cast<double>(f(i));
  }
  return sum;
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
