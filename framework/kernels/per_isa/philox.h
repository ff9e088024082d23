// Random words by a counter-based generator: word i of a stream depends on the stream's key and on
// i alone, so a mask made of them is the same for any number of threads and needs no memory between
// forward and backward.
//
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
#pragma once

#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

constexpr Index kPhiloxWords = 4;   // of one counter
constexpr Index kPhiloxLanes = 16;  // counters that are worked on side by side, by vector code
constexpr Index kPhiloxStretch = kPhiloxWords * kPhiloxLanes;

/// The upper half of a product.
[[gnu::always_inline]] inline std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}

/// A stretch of the words of stream `key`, from the first word of `counter` on.
inline void philox(std::uint64_t key, std::uint64_t counter,
                   std::uint32_t (&words)[kPhiloxStretch]) {
  for (Index lane = 0; lane < kPhiloxLanes; ++lane) {
    const std::uint64_t own = counter + static_cast<std::uint64_t>(lane);
    std::uint32_t a = static_cast<std::uint32_t>(own);
    std::uint32_t b = static_cast<std::uint32_t>(own >> 32);
    std::uint32_t c = 0;
    std::uint32_t d = 0;
    std::uint32_t key0 = static_cast<std::uint32_t>(key);
    std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      constexpr std::uint32_t kLeft = 0xD2511F53;
      constexpr std::uint32_t kRight = 0xCD9E8D57;
      const std::uint32_t above = multiply_high(kRight, c) ^ b ^ key0;
      const std::uint32_t below = multiply_high(kLeft, a) ^ d ^ key1;
      b = kRight * c;
      d = kLeft * a;
      a = above;
      c = below;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    words[kPhiloxWords * lane] = a;
    words[kPhiloxWords * lane + 1] = b;
    words[kPhiloxWords * lane + 2] = c;
    words[kPhiloxWords * lane + 3] = d;
  }
}

/// Which elements dropout with probability p drops, and what it multiplies the others by.
struct Dropping {
  Dropping(double p, std::uint64_t stream)
      : key(stream),
        threshold(static_cast<std::uint32_t>(p < 1 ? p * 0x1p32 : 0)),
        drops_all(p >= 1),
        scale(p < 1 ? 1 / (1 - p) : 0) {}

  std::uint64_t key;
  std::uint32_t threshold;  ///< a word below it drops its element
  bool drops_all;
  double scale;
};

/// Calls f(i, is_dropped) for i below count, element i of these being `first` + i of the stream.
template <class F>
void for_each_dropped(const Dropping& dropping, std::uint64_t first, Index count, F f) {
  std::uint32_t words[kPhiloxStretch];
  for (Index done = 0; done < count;) {
    const std::uint64_t place = first + static_cast<std::uint64_t>(done);
    const Index skip = static_cast<Index>(place % kPhiloxWords);
    philox(dropping.key, place / kPhiloxWords, words);
    const Index left = count - done;
    const Index here = left < kPhiloxStretch - skip ? left : kPhiloxStretch - skip;
    for (Index i = 0; i < here; ++i) {
      f(done + i, words[skip + i] < dropping.threshold || dropping.drops_all);
    }
    done += here;
  }
}

}  // namespace
}  // namespace gradus::kernels::GRADUS_ISA
