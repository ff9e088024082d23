#include "framework/core/tensor.h"

#include "framework/core/error.h"

namespace gradus {
namespace {

bool is_row_major(const Shape& shape, const Strides& strides) {
  Index step = 1;
  for (Index i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

double element_as_double(const Tensor& tensor, Index position) {
  switch (tensor.dtype()) {
    case float32: return static_cast<double>(tensor.data<float>()[position]);
    case float64: return tensor.data<double>()[position];
    case int64: return static_cast<double>(tensor.data<std::int64_t>()[position]);
    case boolean: return tensor.data<bool>()[position] ? 1.0 : 0.0;
  }
  return 0.0;
}

template <class From, class To>
void copy_row_major(const Tensor& tensor, std::vector<To>& out) {
  const From* data = tensor.data<From>();
  const Shape& shape = tensor.shape();
  IndexList index = IndexList::filled(shape.size(), 0);
  for (Index n = 0; n < tensor.numel(); ++n) {
    Index position = 0;
    for (Index i = 0; i < shape.size(); ++i) position += index[i] * tensor.strides()[i];
    out.push_back(element_cast<To>(data[position]));
    for (Index i = shape.size() - 1; i >= 0 && ++index[i] == shape[i]; --i) index[i] = 0;
  }
}

}  // namespace

void NestedNumbers::check_exact(bool too_large) {
  if (!too_large) return;
  throw ValueError("tensor: an integer from 2^53 on does not pass through braces exactly",
                   {.hint = "from_vector(std::vector<std::int64_t>{...})"});
}

NestedNumbers::NestedNumbers(std::initializer_list<NestedNumbers> items) {
  shape_.push_back(static_cast<Index>(items.size()));
  const Shape inner = items.size() == 0 ? Shape{} : items.begin()->shape_;
  for (const Index size : inner) shape_.push_back(size);
  for (const NestedNumbers& item : items) {
    if (!(item.shape_ == inner)) {
      throw ShapeError(text("tensor: ragged braces (", inner, " beside ", item.shape_, ")"));
    }
    numbers_.insert(numbers_.end(), item.numbers_.begin(), item.numbers_.end());
  }
}

TensorImpl::TensorImpl(const Shape& sizes, DType type)
    : numel(element_count(sizes)),
      shape(sizes),
      strides(contiguous_strides(sizes)),
      dtype(type),
      contiguous(true),
      storage(Storage::make(static_cast<std::size_t>(numel) * item_size(type))) {}

TensorImpl::TensorImpl(const TensorImpl& of, const Shape& sizes, const Strides& steps)
    : numel(of.numel),
      shape(sizes),
      strides(steps),
      dtype(of.dtype),
      contiguous(is_row_major(sizes, steps)),
      storage(of.storage),
      offset(of.offset) {}

Tensor::Tensor(const Shape& shape, DType dtype) : impl_(new TensorImpl(shape, dtype)) {}

Tensor::Tensor(const Shape& shape, const Strides& strides, DType dtype) : Tensor(shape, dtype) {
  impl_->strides = strides;
  impl_->contiguous = is_row_major(shape, strides);
}

void Tensor::throw_undefined() {
  throw ValueError("tensor: this tensor is undefined",
                   {.hint = "Tensor() holds nothing; zeros(shape) makes one with numbers"});
}

void Tensor::throw_without_axes() { throw ShapeError("size: a tensor without axes has no sizes"); }

double Tensor::item() const {
  if (numel() != 1) {
    throw ShapeError(text("item: needs a single number, this tensor has ", numel()),
                     {.got = text(shape(), " ", dtype())});
  }
  return element_as_double(*this, 0);
}

double Tensor::at(const IndexList& index) const {
  if (index.size() != dim()) {
    throw ShapeError(text("at: ", index.size(), " indices for ", dim(), " axes"),
                     {.got = text("index ", index, ", tensor ", shape())});
  }
  Index position = 0;
  for (Index i = 0; i < dim(); ++i) {
    const Index size = shape()[i];
    if (index[i] < -size || index[i] >= size) {
      throw ValueError(
          text("at: index ", index[i], " is outside ", -size, "..", size - 1, " on axis ", i),
          {.got = text("index ", index, ", tensor ", shape())});
    }
    position += (index[i] < 0 ? index[i] + size : index[i]) * strides()[i];
  }
  return element_as_double(*this, position);
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(numel()));
  switch (dtype()) {
    case float32: copy_row_major<float>(*this, out); break;
    case float64: copy_row_major<double>(*this, out); break;
    case int64: copy_row_major<std::int64_t>(*this, out); break;
    case boolean: copy_row_major<bool>(*this, out); break;
  }
  return out;
}
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;

Tensor Tensor::alias(const Shape& shape, const Strides& strides, Index offset) const {
  Tensor view = rearranged(shape, strides);
  view.impl_->numel = element_count(shape);
  // An empty tensor lies nowhere: no address overflows.
  view.impl_->offset = view.numel() == 0 ? 0 : offset;
  return view;
}

Tensor Tensor::rearranged(const Shape& shape, const Strides& strides) const {
  return Tensor(Ref(new TensorImpl(impl(), shape, strides)));
}

Tensor Tensor::detach() const { return rearranged(shape(), strides()); }

void Tensor::check_dtype(DType wanted) const {
  if (dtype() != wanted) {
    throw DTypeError(text("data: this tensor holds ", dtype(), ", not ", wanted));
  }
}

}  // namespace gradus
