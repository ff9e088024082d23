// Tensor: a handle to an array of numbers and to its place on the tape.
//
// Copying a Tensor copies the handle: both then name the same numbers. Views (transpose, slice,
// expand ...) are new tensors over the same storage. Reshaping and the ops that read well in a
// chain are methods; everything else is a free function in framework/ops.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/memory.h"
#include "framework/core/ref.h"
#include "framework/core/shape.h"
#include "framework/core/storage.h"

namespace gradus {

class Node;  // a step of the tape (framework/autograd/node.h)
void retain(Node* node) noexcept;
void release(Node* node) noexcept;
const char* step_name(const Node* node) noexcept;  ///< null for a leaf

class Tensor;
struct MaxResult;

/// Options of Tensor::backward.
struct BackwardOptions;

/// Sees a gradient on its way, and returns another in its place, or an undefined tensor to leave
/// it. It must not change it in place: others may share it.
using GradientHook = std::function<Tensor(const Tensor& gradient)>;

/// Takes a hook off its tensor again; dropping the handle leaves the hook on.
class HookHandle {
 public:
  struct Hook {
    explicit Hook(GradientHook hook) : function(std::move(hook)) {}

    GradientHook function;
    std::atomic<bool> removed{false};
  };

  explicit HookHandle(std::shared_ptr<Hook> hook) : hook_(std::move(hook)) {}
  /// A hook may remove itself: it runs to its end.
  void remove() const { hook_->removed = true; }

 private:
  std::shared_ptr<Hook> hook_;
};

/// What a tensor handle points to.
struct TensorImpl : RefCounted, InBlocks {
  /// Uninitialised memory, row-major.
  TensorImpl(const Shape& sizes, DType type);
  /// The elements of another, seen as another shape.
  TensorImpl(const TensorImpl& of, const Shape& sizes, const Strides& steps);

  Index numel;
  Shape shape;
  Strides strides;
  DType dtype;
  bool contiguous;
  Ref<Storage> storage;
  Index offset = 0;  ///< of the first element, in elements
  Ref<Node> node;    ///< the step that made this tensor, a leaf of the tape, or null
};
inline void retain(TensorImpl* impl) noexcept { impl->add_ref(); }
inline void release(TensorImpl* impl) noexcept {
  if (impl->drop_ref()) delete impl;
}

/// Numbers written as nested braces, as in tensor({{1, 2}, {3, 4}}).
class NestedNumbers {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> NestedNumbers(T value)
      : numbers_{static_cast<double>(value)} {  // NOLINT: reads as a number
    if constexpr (std::is_integral_v<T> && sizeof(T) > 4)
      check_exact(value >= kExact || -value >= kExact);
  }
  NestedNumbers(std::initializer_list<NestedNumbers> items);  // NOLINT: reads as nested braces
  const Shape& shape() const { return shape_; }
  const std::vector<double>& numbers() const { return numbers_; }

 private:
  static constexpr std::int64_t kExact = std::int64_t{1} << 53;  // doubles skip integers beyond it
  static void check_exact(bool too_large);

  Shape shape_;
  std::vector<double> numbers_;
};

class Tensor {
 public:
  /// No tensor at all: defined() is false, and whatever asks for its contents throws ValueError.
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}
  /// Uninitialised memory of this shape.
  Tensor(const Shape& shape, DType dtype);
  /// The same, laid out by strides that leave no gap and share no place.
  Tensor(const Shape& shape, const Strides& strides, DType dtype);

  // ---- what it is ----
  bool defined() const { return static_cast<bool>(impl_); }
  const Shape& shape() const { return impl().shape; }
  const Strides& strides() const { return impl().strides; }
  DType dtype() const { return impl().dtype; }
  Index dim() const { return impl().shape.size(); }
  Index numel() const { return impl().numel; }
  /// Size of one axis; a negative axis counts from the back. Throws ShapeError.
  Index size(Index axis) const {
    if (dim() == 0) throw_without_axes();
    return shape()[checked_axis("size", axis, dim())];
  }
  bool is_contiguous() const { return impl().contiguous; }
  /// True when both handles name the same tensor (not merely equal numbers).
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  // ---- its numbers ----
  /// The first element. T must be the C++ type of dtype(), else DTypeError. Neighbours are
  /// strides() apart. Writes through mutable_data are noted as a change in place, once, when it is
  /// called: keep no such pointer across a forward pass.
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<const T*>(raw());
  }
  template <class T>
  T* mutable_data() {
    check_dtype(dtype_of<T>);
    mark_changed("mutable_data");
    return static_cast<T*>(raw());
  }
  /// The only element, of any dtype, as a double. Throws ShapeError unless numel() is 1.
  double item() const;
  /// One element by its index, of any dtype, as a double. Throws ShapeError or ValueError.
  double at(const IndexList& index) const;
  /// All elements in row-major order, converted to T.
  template <class T>
  std::vector<T> to_vector() const;

  // ---- its place on the tape ----
  bool requires_grad() const { return defined() && static_cast<bool>(impl().node); }
  /// Makes a leaf of the tape, whose gradient backward() will leave in grad(), or no longer one.
  /// Throws DTypeError for integers and bools, AutogradError for the result of a recorded op.
  Tensor& requires_grad_(bool wanted = true);
  /// True unless a recorded op made this tensor.
  bool is_leaf() const;
  /// The gradient that backward() left here; undefined before that.
  Tensor grad() const;
  /// Replaces the gradient; an undefined tensor clears it. Throws ShapeError, DTypeError,
  /// AutogradError for a tensor that requires no gradient.
  void set_grad(const Tensor& gradient) const;
  void zero_grad() const { set_grad(Tensor()); }
  /// Asks backward() to leave the gradient of this intermediate result in grad(), too.
  const Tensor& retain_grad() const;
  /// Calls `hook` with the whole gradient of this tensor whenever one arrives, before it is used or
  /// passed on. A hook must not hold the tensor itself: the two would keep each other alive. Throws
  /// AutogradError for a tensor that requires no gradient.
  HookHandle register_hook(GradientHook hook) const;
  /// Gradients of this tensor, added into the grad() of every leaf it was computed from.
  void backward() const;
  void backward(const BackwardOptions& options) const;
  /// The same numbers off the tape; shares storage.
  Tensor detach() const;
  /// A copy of the numbers, on the tape.
  Tensor clone() const;

  // ---- views: the same storage seen differently (framework/ops/views.h) ----
  /// Another shape over the same storage; one size may be -1. Throws ShapeError where the strides
  /// do not allow it: reshape() copies then.
  Tensor view(const Shape& shape) const;
  Tensor reshape(const Shape& shape) const;
  Tensor flatten(Index start_axis = 0, Index end_axis = -1) const;
  Tensor transpose(Index axis0, Index axis1) const;
  Tensor permute(const Axes& axes) const;
  /// Axes of size 1 repeated without copying; -1 keeps a size.
  Tensor expand(const Shape& shape) const;
  /// Without its axes of size 1, or without that one axis if its size is 1.
  Tensor squeeze() const;
  Tensor squeeze(Index axis) const;
  Tensor unsqueeze(Index axis) const;
  /// Elements start, start+step, ... before end along one axis; negative bounds count from the
  /// back, and bounds past the ends are clamped, as in Python. Throws ValueError for step < 1.
  Tensor slice(Index axis, std::optional<Index> start, std::optional<Index> end = std::nullopt,
               Index step = 1) const;
  /// One slice, without its axis; a negative index counts from the back. Throws ValueError.
  Tensor select(Index axis, Index index) const;
  Tensor operator[](Index index) const { return select(0, index); }
  /// Any sizes and strides over the memory of this tensor, from storage_offset in it, or from its
  /// own first element. Elements may share a place; their gradients add up. Throws ShapeError and
  /// ValueError, also where this tensor's own elements share places.
  Tensor as_strided(const Shape& shape, const Strides& strides,
                    std::optional<Index> storage_offset = std::nullopt) const;
  /// Itself when row-major without gaps, else such a copy.
  Tensor contiguous() const;
  /// The same numbers as another dtype; itself when it already has it.
  Tensor to(DType dtype) const;

  // ---- ops that read well in a chain; each is also a free function in framework/ops ----
  Tensor sum() const;
  Tensor sum(const Axes& axes, bool keepdim = false) const;
  Tensor mean() const;
  Tensor mean(const Axes& axes, bool keepdim = false) const;
  Tensor max() const;
  MaxResult max(Index axis, bool keepdim = false) const;
  Tensor exp() const;
  Tensor log() const;
  Tensor sqrt() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor softmax(Index axis) const;
  Tensor log_softmax(Index axis) const;
  Tensor matmul(const Tensor& other) const;
  Tensor masked_fill(const Tensor& mask, double value) const;

  // ---- changes in place: for parameters and buffers, off the tape ----
  // Defined in framework/ops/inplace.cpp. Each throws AutogradError when a gradient would be lost,
  // that is outside a NoGrad scope where a tensor requires one, and ValueError when several of the
  // elements to be changed share memory.
  Tensor& copy_(const Tensor& source);
  Tensor& fill_(double value);
  Tensor& zero_() { return fill_(0.0); }
  /// this += alpha * other, elementwise, with broadcasting of other.
  Tensor& add_(const Tensor& other, double alpha = 1.0);
  Tensor& mul_(const Tensor& other);
  Tensor& mul_(double factor);
  Tensor& masked_fill_(const Tensor& mask, double value);

  // ---- for those who write ops ----
  TensorImpl& impl() const {
    if (!impl_) throw_undefined();
    return *impl_;
  }
  void* raw() const { return impl().storage->data() + impl().offset * itemsize(); }
  Index itemsize() const { return static_cast<Index>(item_size(impl().dtype)); }
  void mark_changed(const char* op) const { impl().storage->mark_changed(op); }
  /// Another geometry over the same storage, off the tape.
  Tensor alias(const Shape& shape, const Strides& strides, Index offset) const;
  /// All its elements, each once, arranged anew around the same first one.
  Tensor rearranged(const Shape& shape, const Strides& strides) const;

 private:
  [[noreturn]] static void throw_undefined();
  [[noreturn]] static void throw_without_axes();
  void check_dtype(DType wanted) const;
  Ref<TensorImpl> impl_;
};

/// Values and, as int64, their positions along the axis.
struct MaxResult {
  Tensor values;
  Tensor indices;
};

// ---- arithmetic, elementwise with broadcasting (framework/ops/arithmetic.cpp) ----
// Both operands have one dtype, else DTypeError; shapes that do not broadcast throw ShapeError. A
// plain number takes the tensor's dtype. `/` is true division and needs floating operands.
Tensor operator+(const Tensor& x, const Tensor& other);
Tensor operator-(const Tensor& x, const Tensor& other);
Tensor operator*(const Tensor& x, const Tensor& other);
Tensor operator/(const Tensor& x, const Tensor& other);
Tensor operator+(const Tensor& x, double other);
Tensor operator-(const Tensor& x, double other);
Tensor operator*(const Tensor& x, double other);
Tensor operator/(const Tensor& x, double other);
Tensor operator+(double x, const Tensor& other);
Tensor operator-(double x, const Tensor& other);
Tensor operator*(double x, const Tensor& other);
Tensor operator/(double x, const Tensor& other);
Tensor operator-(const Tensor& x);

/// Prints as PyTorch does: "tensor([[1.0000, 2.0000],\n        [3.0000, 4.0000]])".
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace gradus
