// Changes in place: for parameters and buffers, off the tape.
#include "framework/autograd/no_grad.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/checks.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

void check_in_place(const char* op, const Tensor& x) {
  if (x.requires_grad() && grad_enabled()) {
    throw AutogradError(text(op, ": a tensor on the tape cannot be changed in place"),
                        {.got = text("x ", described(x), x.is_leaf() ? ", a leaf" : ""),
                         .hint = "NoGrad no_grad; for an update of a parameter, or the op without "
                                 "its underscore"});
  }
  // Two elements in one place would make the result depend on the order of the loop.
  if (overlaps_itself(x)) {
    throw ValueError(text(op, ": several elements of x share memory"),
                     {.got = text("x ", described(x), " with strides ", x.strides()),
                      .hint = "contiguous() makes a copy that can be changed"});
  }
}

void check_off_tape(const char* op, const Tensor& other) {
  if (!other.requires_grad() || !grad_enabled()) return;
  throw AutogradError(
      text(op, ": the change would lose the gradient of the other operand"),
      {.got = text("other ", described(other), ", requires a gradient"),
       .hint = "NoGrad no_grad; or other.detach(), or the op without its underscore"});
}

/// The other operand as x sees it: of its shape, and a copy where it may lie in x's own memory.
Tensor source_for(const char* op, const Tensor& x, const Tensor& other) {
  check_off_tape(op, other);
  if (!(broadcast_shape(op, x.shape(), other.shape()) == x.shape())) {
    throw ShapeError(text(op, ": the other operand is larger than x"),
                     {.got = text("x ", x.shape(), ", other ", other.shape())});
  }
  const Tensor plain = other.detach();
  const bool same_memory = x.impl().storage == plain.impl().storage && !x.is_same(other);
  return (same_memory ? launch::copy(plain, plain.dtype()) : plain).expand(x.shape());
}

}  // namespace

Tensor& Tensor::copy_(const Tensor& source) {
  check_in_place("copy_", *this);
  launch::copy_into(*this, source_for("copy_", *this, source));
  mark_changed("copy_");
  return *this;
}

Tensor& Tensor::fill_(double value) {
  check_in_place("fill_", *this);
  check_number("fill_", *this, value);
  launch::fill(*this, value);
  mark_changed("fill_");
  return *this;
}

Tensor& Tensor::add_(const Tensor& other, double alpha) {
  check_in_place("add_", *this);
  check_same_dtype("add_", *this, other);
  check_not_bool("add_", *this);
  check_number("add_", *this, alpha);
  launch::add_scaled_into(*this, source_for("add_", *this, other), alpha);
  mark_changed("add_");
  return *this;
}

Tensor& Tensor::mul_(const Tensor& other) {
  check_in_place("mul_", *this);
  check_same_dtype("mul_", *this, other);
  check_not_bool("mul_", *this);
  launch::binary_into(launch::Binary::multiply, *this, *this, source_for("mul_", *this, other));
  mark_changed("mul_");
  return *this;
}

Tensor& Tensor::mul_(double factor) {
  check_number("mul_", *this, factor);
  Tensor number(Shape{}, dtype());
  launch::fill(number, factor);
  return mul_(number);
}

Tensor& Tensor::masked_fill_(const Tensor& mask, double value) {
  check_in_place("masked_fill_", *this);
  gradus::check_dtype("masked_fill_", "mask", mask, boolean);
  check_number("masked_fill_", *this, value);
  launch::select_into(*this, source_for("masked_fill_", *this, mask), value, *this);
  mark_changed("masked_fill_");
  return *this;
}

}  // namespace gradus
