#include "framework/ops/launch.h"

#include <array>

namespace gradus::launch {
namespace {

using kernels::table;

/// One elementwise loop over N operands: axes of size 1 dropped, and neighbouring axes that every
/// operand steps through evenly joined, so that most loops have one axis.
template <std::size_t N>
class JointLoop {
 public:
  JointLoop(const Shape& shape, const std::array<const Strides*, N>& strides) {
    for (Index axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != 1) append(shape, strides, axis);
    }
  }

  kernels::Loop loop() const { return {rank_, sizes_.data()}; }
  kernels::Operand operand(std::size_t n, void* data) const { return {data, strides_[n].data()}; }

 private:
  void append(const Shape& shape, const std::array<const Strides*, N>& strides, Index axis) {
    const auto last = static_cast<std::size_t>(rank_ - 1);
    bool joins = rank_ > 0;
    for (std::size_t n = 0; n < N && joins; ++n) {
      joins = strides_[n][last] == (*strides[n])[axis] * shape[axis];
    }
    const std::size_t place = joins ? last : static_cast<std::size_t>(rank_++);
    sizes_[place] = joins ? sizes_[place] * shape[axis] : shape[axis];
    for (std::size_t n = 0; n < N; ++n) strides_[n][place] = (*strides[n])[axis];
  }

  Index rank_ = 0;
  std::array<Index, kMaxRank> sizes_;
  std::array<std::array<Index, kMaxRank>, N> strides_;
};

/// Strides of a number that stands for a whole tensor.
const Strides& still() {
  static const Strides zeros = Strides::filled(kMaxRank, 0);
  return zeros;
}

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

void* raw(const Tensor& x) { return x.raw(); }

}  // namespace

Tensor unary(Unary op, const Tensor& x) {
  Tensor out(x.shape(), x.dtype());
  const JointLoop<2> joint(x.shape(), {&out.strides(), &x.strides()});
  if (x.numel() > 0) {
    table().unary(op, x.dtype(), joint.loop(), joint.operand(0, raw(out)),
                  joint.operand(1, raw(x)));
  }
  return out;
}

void binary_into(Binary op, const Tensor& out, const Tensor& a, const Tensor& b) {
  if (out.numel() == 0) return;
  const JointLoop<3> joint(out.shape(), {&out.strides(), &a.strides(), &b.strides()});
  table().binary(op, out.dtype(), joint.loop(), joint.operand(0, raw(out)),
                 joint.operand(1, raw(a)), joint.operand(2, raw(b)));
}

Tensor binary(Binary op, const Tensor& a, const Tensor& b) {
  Tensor out(a.shape(), a.dtype());
  binary_into(op, out, a, b);
  return out;
}

Tensor binary(Binary op, const Tensor& a, double b) {
  Tensor out(a.shape(), a.dtype());
  Number number(b, a.dtype());
  const JointLoop<3> joint(a.shape(), {&out.strides(), &a.strides(), &still()});
  if (a.numel() > 0) {
    table().binary(op, a.dtype(), joint.loop(), joint.operand(0, raw(out)),
                   joint.operand(1, raw(a)), joint.operand(2, number.data()));
  }
  return out;
}

Tensor binary(Binary op, double a, const Tensor& b) {
  Tensor out(b.shape(), b.dtype());
  Number number(a, b.dtype());
  const JointLoop<3> joint(b.shape(), {&out.strides(), &still(), &b.strides()});
  if (b.numel() > 0) {
    table().binary(op, b.dtype(), joint.loop(), joint.operand(0, raw(out)),
                   joint.operand(1, number.data()), joint.operand(2, raw(b)));
  }
  return out;
}

Tensor compare(Compare op, const Tensor& a, const Tensor& b) {
  Tensor out(a.shape(), boolean);
  const JointLoop<3> joint(a.shape(), {&out.strides(), &a.strides(), &b.strides()});
  if (a.numel() > 0) {
    table().compare(op, a.dtype(), joint.loop(), joint.operand(0, raw(out)),
                    joint.operand(1, raw(a)), joint.operand(2, raw(b)));
  }
  return out;
}

Tensor compare(Compare op, const Tensor& a, double b) {
  Tensor out(a.shape(), boolean);
  Number number(b, a.dtype());
  const JointLoop<3> joint(a.shape(), {&out.strides(), &a.strides(), &still()});
  if (a.numel() > 0) {
    table().compare(op, a.dtype(), joint.loop(), joint.operand(0, raw(out)),
                    joint.operand(1, raw(a)), joint.operand(2, number.data()));
  }
  return out;
}

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Tensor out(a.shape(), a.dtype());
  const JointLoop<4> joint(a.shape(),
                           {&out.strides(), &condition.strides(), &a.strides(), &b.strides()});
  if (a.numel() > 0) {
    table().select(a.dtype(), joint.loop(), joint.operand(0, raw(out)),
                   joint.operand(1, raw(condition)), joint.operand(2, raw(a)),
                   joint.operand(3, raw(b)));
  }
  return out;
}

void select_into(const Tensor& out, const Tensor& condition, double a, const Tensor& b) {
  if (b.numel() == 0) return;
  Number number(a, b.dtype());
  const JointLoop<4> joint(b.shape(),
                           {&out.strides(), &condition.strides(), &still(), &b.strides()});
  table().select(b.dtype(), joint.loop(), joint.operand(0, raw(out)),
                 joint.operand(1, raw(condition)), joint.operand(2, number.data()),
                 joint.operand(3, raw(b)));
}

Tensor select(const Tensor& condition, double a, const Tensor& b) {
  Tensor out(b.shape(), b.dtype());
  select_into(out, condition, a, b);
  return out;
}

void copy_into(const Tensor& out, const Tensor& x) {
  if (out.numel() == 0) return;
  const JointLoop<2> joint(out.shape(), {&out.strides(), &x.strides()});
  table().convert(out.dtype(), x.dtype(), joint.loop(), joint.operand(0, raw(out)),
                  joint.operand(1, raw(x)));
}

Tensor copy(const Tensor& x, DType dtype) {
  Tensor out(x.shape(), dtype);
  copy_into(out, x);
  return out;
}

void fill(const Tensor& out, double value) {
  if (out.numel() == 0) return;
  Number number(value, out.dtype());
  const JointLoop<2> joint(out.shape(), {&out.strides(), &still()});
  table().convert(out.dtype(), out.dtype(), joint.loop(), joint.operand(0, raw(out)),
                  joint.operand(1, number.data()));
}

void add_scaled_into(const Tensor& out, const Tensor& x, double alpha) {
  if (out.numel() == 0) return;
  const JointLoop<2> joint(out.shape(), {&out.strides(), &x.strides()});
  table().add_scaled(out.dtype(), joint.loop(), joint.operand(0, raw(out)),
                     joint.operand(1, raw(x)), alpha);
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
