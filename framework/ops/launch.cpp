#include "framework/ops/launch.h"

#include <algorithm>
#include <array>

namespace gradus::launch {
namespace {

using kernels::table;

/// One elementwise loop over N operands of one shape: axes of size 1 dropped, and neighbouring axes
/// that every operand steps through evenly joined, so that most loops have one axis. A null pointer
/// stands for a number, which is the same everywhere.
template <std::size_t N>
class JointLoop {
 public:
  explicit JointLoop(const std::array<const Tensor*, N>& operands) : operands_(operands) {
    const Tensor& out = *operands[0];
    if (are_row_major()) {
      add_axis(out.numel());
      for (std::size_t n = 0; n < N; ++n) strides_[n][0] = operands[n] ? 1 : 0;
      return;
    }
    for (Index axis = 0; axis < out.dim(); ++axis) {
      if (out.shape()[axis] != 1) append(out.shape()[axis], axis);
    }
  }

  kernels::Loop loop() const { return {rank_, sizes_.data()}; }
  kernels::Operand operand(std::size_t n) const { return operand(n, operands_[n]->raw()); }
  kernels::Operand operand(std::size_t n, void* data) const { return {data, strides_[n].data()}; }

 private:
  bool are_row_major() const {
    return std::all_of(operands_.begin(), operands_.end(),
                       [](const Tensor* x) { return !x || x->is_contiguous(); });
  }
  Index step(std::size_t n, Index axis) const {
    return operands_[n] ? operands_[n]->strides()[axis] : 0;
  }
  void add_axis(Index size) { sizes_[static_cast<std::size_t>(rank_++)] = size; }

  void append(Index size, Index axis) {
    bool joins = rank_ > 0;
    for (std::size_t n = 0; n < N && joins; ++n) {
      joins = strides_[n][static_cast<std::size_t>(rank_ - 1)] == step(n, axis) * size;
    }
    if (!joins) add_axis(1);
    const auto last = static_cast<std::size_t>(rank_ - 1);
    sizes_[last] *= size;
    for (std::size_t n = 0; n < N; ++n) strides_[n][last] = step(n, axis);
  }

  std::array<const Tensor*, N> operands_;
  Index rank_ = 0;
  std::array<Index, kMaxRank> sizes_;
  std::array<std::array<Index, kMaxRank>, N> strides_;
};

/// A number in memory, as an element of the dtype.
class Number {
 public:
  Number(double value, DType dtype) {
    switch (dtype) {
      case float32: float32_ = static_cast<float>(value); break;
      case float64: float64_ = value; break;
      case int64: int64_ = static_cast<Index>(value); break;
      case boolean: boolean_ = value != 0; break;
    }
  }
  void* data() { return &float64_; }

 private:
  union {
    float float32_;
    double float64_;
    Index int64_;
    bool boolean_;
  };
};

}  // namespace

Tensor unary(Unary op, const Tensor& x) {
  Tensor out(x.shape(), x.dtype());
  const JointLoop<2> joint({&out, &x});
  if (x.numel() > 0) {
    table().unary(op, x.dtype(), joint.loop(), joint.operand(0), joint.operand(1));
  }
  return out;
}

void binary_into(Binary op, const Tensor& out, const Tensor& a, const Tensor& b) {
  if (out.numel() == 0) return;
  const JointLoop<3> joint({&out, &a, &b});
  table().binary(op, out.dtype(), joint.loop(), joint.operand(0), joint.operand(1),
                 joint.operand(2));
}

Tensor binary(Binary op, const Tensor& a, const Tensor& b) {
  Tensor out(a.shape(), a.dtype());
  binary_into(op, out, a, b);
  return out;
}

Tensor binary(Binary op, const Tensor& a, double b) {
  Tensor out(a.shape(), a.dtype());
  Number number(b, a.dtype());
  const JointLoop<3> joint({&out, &a, nullptr});
  if (a.numel() > 0) {
    table().binary(op, a.dtype(), joint.loop(), joint.operand(0), joint.operand(1),
                   joint.operand(2, number.data()));
  }
  return out;
}

Tensor binary(Binary op, double a, const Tensor& b) {
  Tensor out(b.shape(), b.dtype());
  Number number(a, b.dtype());
  const JointLoop<3> joint({&out, nullptr, &b});
  if (b.numel() > 0) {
    table().binary(op, b.dtype(), joint.loop(), joint.operand(0), joint.operand(1, number.data()),
                   joint.operand(2));
  }
  return out;
}

Tensor compare(Compare op, const Tensor& a, const Tensor& b) {
  Tensor out(a.shape(), boolean);
  const JointLoop<3> joint({&out, &a, &b});
  if (a.numel() > 0) {
    table().compare(op, a.dtype(), joint.loop(), joint.operand(0), joint.operand(1),
                    joint.operand(2));
  }
  return out;
}

Tensor compare(Compare op, const Tensor& a, double b) {
  Tensor out(a.shape(), boolean);
  Number number(b, a.dtype());
  const JointLoop<3> joint({&out, &a, nullptr});
  if (a.numel() > 0) {
    table().compare(op, a.dtype(), joint.loop(), joint.operand(0), joint.operand(1),
                    joint.operand(2, number.data()));
  }
  return out;
}

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Tensor out(a.shape(), a.dtype());
  const JointLoop<4> joint({&out, &condition, &a, &b});
  if (a.numel() > 0) {
    table().select(a.dtype(), joint.loop(), joint.operand(0), joint.operand(1), joint.operand(2),
                   joint.operand(3));
  }
  return out;
}

void select_into(const Tensor& out, const Tensor& condition, double a, const Tensor& b) {
  if (b.numel() == 0) return;
  Number number(a, b.dtype());
  const JointLoop<4> joint({&out, &condition, nullptr, &b});
  table().select(b.dtype(), joint.loop(), joint.operand(0), joint.operand(1),
                 joint.operand(2, number.data()), joint.operand(3));
}

Tensor select(const Tensor& condition, double a, const Tensor& b) {
  Tensor out(b.shape(), b.dtype());
  select_into(out, condition, a, b);
  return out;
}

void copy_into(const Tensor& out, const Tensor& x) {
  if (out.numel() == 0) return;
  const JointLoop<2> joint({&out, &x});
  table().convert(out.dtype(), x.dtype(), joint.loop(), joint.operand(0), joint.operand(1));
}

Tensor copy(const Tensor& x, DType dtype) {
  Tensor out(x.shape(), dtype);
  copy_into(out, x);
  return out;
}

void fill(const Tensor& out, double value) {
  if (out.numel() == 0) return;
  Number number(value, out.dtype());
  const JointLoop<2> joint({&out, nullptr});
  table().convert(out.dtype(), out.dtype(), joint.loop(), joint.operand(0),
                  joint.operand(1, number.data()));
}

void add_scaled_into(const Tensor& out, const Tensor& x, double alpha) {
  if (out.numel() == 0) return;
  const JointLoop<2> joint({&out, &x});
  table().add_scaled(out.dtype(), joint.loop(), joint.operand(0), joint.operand(1), alpha);
}

Tensor packed(const Tensor& x) { return x.is_contiguous() ? x : copy(x, x.dtype()); }
Tensor packed_if_defined(const Tensor& x) { return x.defined() ? packed(x) : x; }
void* raw_or_null(const Tensor& x) { return x.defined() ? x.raw() : nullptr; }

AxisSplit split_at(const Shape& shape, Index axis) {
  if (shape.contains(0)) return {0, 0, 0};  // nothing to do, however long the other axes
  AxisSplit split{1, 1, 1};
  for (Index i = 0; i < shape.size(); ++i) {
    (i < axis ? split.outer : i == axis ? split.size : split.inner) *= shape[i];
  }
  return split;
}

}  // namespace gradus::launch
