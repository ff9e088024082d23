// Dropout by a counter-based generator: whether element i is kept depends on the key and on i
// alone, so the mask is the same for any number of threads and needs no memory between forward and
// backward.
//
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
#include "framework/core/parallel.h"
#include "framework/kernels/per_isa/isa.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

constexpr int kWords = 4;

void philox(std::uint64_t key, std::uint64_t counter, std::uint32_t (&words)[kWords]) {
  std::uint32_t key0 = static_cast<std::uint32_t>(key);
  std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t a = static_cast<std::uint32_t>(counter);
  std::uint32_t b = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53} * a;
    const std::uint64_t right = std::uint64_t{0xCD9E8D57} * c;
    a = static_cast<std::uint32_t>(right >> 32) ^ b ^ key0;
    b = static_cast<std::uint32_t>(right);
    c = static_cast<std::uint32_t>(left >> 32) ^ d ^ key1;
    d = static_cast<std::uint32_t>(left);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  words[0] = a;
  words[1] = b;
  words[2] = c;
  words[3] = d;
}

template <class T>
void dropout_of(Index count, double p, std::uint64_t key, T* out, const T* x) {
  const auto threshold = static_cast<std::uint64_t>(p * 0x1p32);  // a word below it drops
  const T scale = p < 1 ? static_cast<T>(1 / (1 - p)) : T{0};
  parallel_for((count + kWords - 1) / kWords, kChunk / kWords, [&](Index first, Index last) {
    for (Index block = first; block < last; ++block) {
      std::uint32_t words[kWords];
      philox(key, static_cast<std::uint64_t>(block), words);
      for (int w = 0; w < kWords && block * kWords + w < count; ++w) {
        const Index i = block * kWords + w;
        out[i] = words[w] < threshold ? T{0} : x[i] * scale;
      }
    }
  });
}

void dropout(DType dtype, Index count, double p, std::uint64_t key, void* out, const void* x) {
  for_floating(dtype, [&]<class T>(T*) {
    dropout_of(count, p, key, static_cast<T*>(out), static_cast<const T*>(x));
  });
}

}  // namespace

void fill_dropout(Table& table) { table.dropout = dropout; }

}  // namespace gradus::kernels::GRADUS_ISA
