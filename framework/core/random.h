// Random streams that agree with other programs, digit for digit: a Generator draws what PyTorch's
// CPU generator draws after the same manual_seed, random::Numpy what numpy.random draws after seed.
// Both read MT19937 from left to right, so a stream depends on the order of the draws and on
// nothing else. The ops that make tensors of it are in framework/ops/random.h.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// PyTorch's CPU generator (torch.Generator): MT19937, and the second normal of the last pair.
/// A copy goes on from the same place. Not for use by several threads at once.
class Generator {
 public:
  /// The seed of a torch.Generator() that nobody seeded: an unseeded run can be repeated, too.
  static constexpr std::uint64_t kDefaultSeed = 67280421310721;

  explicit Generator(std::uint64_t seed = kDefaultSeed) { manual_seed(seed); }

  /// Starts the stream of torch.manual_seed(seed). As in PyTorch only the low 32 bits of the seed
  /// count, and a kept second normal is forgotten.
  void manual_seed(std::uint64_t seed);

  /// The next 32 bits of MT19937. Every other draw is made of these.
  std::uint32_t raw() { return static_cast<std::uint32_t>(engine_()); }
  /// The next 64 bits: two raw(), the high half first. One of them keys a counter-based stream,
  /// such as a dropout mask that must not depend on the number of threads.
  std::uint64_t next_key();

  /// Tensor.uniform_(low, high): evenly from [low, high), from one raw() (float) or two (double)
  /// per element. u * (high - low) + low is rounded once, to the element's type, which may so
  /// reach `high` itself; without bounds the numbers are below 1.
  void fill_uniform(std::span<float> out, float low = 0.0F, float high = 1.0F);
  void fill_uniform(std::span<double> out, double low = 0.0, double high = 1.0);

  /// torch.randn: mean 0, deviation 1. Fewer than 16 elements are drawn in pairs, in double, and
  /// the second of an odd pair is kept for the next such call. 16 and more are drawn in blocks of
  /// 16, in the element's type; when the last block is not full, the last 16 are drawn afresh.
  /// Blocks of float use the C library's float functions where PyTorch has vectors of its own:
  /// these agree to 3e-7. Doubles are equal.
  void fill_normal(std::span<float> out);
  void fill_normal(std::span<double> out);

  /// A whole number from 0 up to, not including, `bound`. Throws ValueError for a bound of 0.
  std::uint64_t random_below(std::uint64_t bound);
  /// A whole number from `low` up to, not including, `high`. Throws ValueError unless low < high.
  std::int64_t randint(std::int64_t low, std::int64_t high);
  /// torch.randint: every element as by randint(), and the same error even for no elements.
  void fill_randint(std::span<std::int64_t> out, std::int64_t low, std::int64_t high);

  /// True with probability `p`. Throws ValueError unless 0 <= p <= 1.
  bool bernoulli(double p);

  /// Puts `items` into random order, by the swaps of torch.randperm.
  void shuffle(std::span<std::int64_t> items);
  /// torch.randperm: the numbers 0 .. n-1 in random order. Throws ValueError for a negative n.
  std::vector<std::int64_t> permutation(std::int64_t n);

  /// All there is to know, as one line of text of some 7 KB, for a checkpoint.
  std::string state() const;
  /// Goes on from where state() was taken. Throws ValueError for any other text, and then changes
  /// nothing.
  void set_state(const std::string& state);

  friend bool operator==(const Generator& a, const Generator& b) = default;

 private:
  double normal();
  template <class Float>
  void fill_normal_of(std::span<Float> out);

  std::mt19937 engine_;
  std::optional<double> second_normal_;
};

/// Throws ValueError that leads with `op` unless 0 <= p <= 1 (NaN is neither).
void check_probability(const char* op, double p);

/// The generator behind every draw that names no other. Threads share it: hold a LockedGenerator
/// while drawing from it by hand.
Generator& default_generator();

/// The default generator, kept from other threads while this object lives. The random ops lock for
/// one call; hold this around several that no other thread's draws may come between.
class LockedGenerator {
 public:
  LockedGenerator();
  Generator& operator*() const { return default_generator(); }
  Generator* operator->() const { return &default_generator(); }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Seeds the default generator as torch.manual_seed(seed) does.
void manual_seed(std::uint64_t seed);

namespace random {

/// NumPy's legacy stream: random::Numpy(42) draws what numpy.random draws after
/// numpy.random.seed(42).
class Numpy {
 public:
  /// Throws ValueError unless the seed is in 0 .. 2^32 - 1, as in NumPy.
  explicit Numpy(std::int64_t seed);

  /// float64, evenly from [0, 1): numpy.random.rand. Throws ShapeError for a negative size.
  Tensor rand(const Shape& shape);
  /// float64, mean 0, deviation 1: numpy.random.randn. Normals come in pairs; the second of an odd
  /// pair is kept for the next call. Throws ShapeError for a negative size.
  Tensor randn(const Shape& shape);

 private:
  double unit();
  double normal();

  std::mt19937 engine_;
  std::optional<double> second_normal_;
};

}  // namespace random
}  // namespace gradus
