// Program: what the fuzzer's bytes become. A Program holds a few small tensors and masks, decodes
// arguments for the next operation from the bytes that are left (likely ones most of the time,
// hostile ones now and then), and takes in results, checking that each lies inside its storage.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/ops/attention_mask.h"

namespace gradus::fuzz {

/// Larger tensors are not kept, so that no operation takes long.
inline constexpr Index kMostElements = 512;
/// Larger requests for memory are refused with std::bad_alloc, as a full machine would.
inline constexpr std::size_t kMostBytes = std::size_t{1} << 20;

/// Prints what is wrong and aborts, which makes it a finding.
[[noreturn]] void fail(const std::string& what);

class Program {
 public:
  explicit Program(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool has_ended() const { return next_ >= bytes_.size(); }

  // ---- arguments ----
  std::uint8_t byte() { return has_ended() ? std::uint8_t{0} : bytes_[next_++]; }
  bool flag() { return byte() % 2 == 1; }
  /// True once in `times`.
  bool rarely(int times) { return byte() % times == times - 1; }
  /// A number from 0 up to, not including, `bound`.
  Index below(Index bound) { return byte() % bound; }
  /// Small most of the time, else at the ends of what 64, 32 or 53 bits hold.
  Index integer();
  /// A size: 0 to 5, else as hostile.
  Index size();
  /// Plain numbers, NaN, infinities, the ends of the range.
  double number();
  DType dtype();
  Shape shape();
  Axes axes();
  /// The shape of a tensor, perhaps with one size changed, added or removed.
  Shape shape_like(const Tensor& x);
  std::string text(std::string_view alphabet);

  // ---- tensors ----
  /// One of those kept; seldom an undefined one.
  Tensor tensor();
  /// The same, but floating and defined where there is one.
  Tensor floating();
  /// An operand that suits x: its dtype, and a shape that broadcasts, most of the time.
  Tensor partner(const Tensor& x);
  /// A new tensor of this shape and dtype. Throws as the framework does.
  Tensor filled(const Shape& shape, DType dtype);
  /// int64, most numbers of it in 0..bound-1.
  Tensor indices(const Shape& shape, Index bound);
  /// An undefined tensor, or one of this shape.
  Tensor optional(const Shape& shape, DType dtype);
  std::vector<Tensor> several();
  AttentionMask mask();

  /// Takes in a result, after a look at it.
  void keep(const Tensor& result);
  void keep(const std::vector<Tensor>& results) {
    for (const Tensor& result : results) keep(result);
  }
  void keep(const AttentionMask& mask);

  /// What every tensor must be, whatever was done to it.
  void check_all() const;

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<AttentionMask> masks_;
  std::size_t oldest_ = 0;
};

/// One thing a program can do.
struct Operation {
  const char* name;
  void (*run)(Program& p);
};

std::span<const Operation> op_operations();
std::span<const Operation> autograd_operations();
std::span<const Operation> layer_operations();

}  // namespace gradus::fuzz
