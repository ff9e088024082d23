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

Tensor::Tensor(const Shape& shape, DType dtype) : impl_(new TensorImpl) {
  impl_->numel = element_count(shape);
  impl_->storage = Storage::make(static_cast<std::size_t>(impl_->numel) * item_size(dtype));
  impl_->shape = shape;
  impl_->strides = contiguous_strides(shape);
  impl_->dtype = dtype;
}

void Tensor::throw_undefined() {
  throw ValueError("tensor: this tensor is undefined",
                   {.hint = "Tensor() holds nothing; zeros(shape) makes one with numbers"});
}

Index Tensor::size(Index axis) const {
  if (dim() == 0) throw ShapeError("size: a tensor without axes has no sizes");
  return shape()[checked_axis("size", axis, dim())];
}

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
  Ref<TensorImpl> view(new TensorImpl);
  view->storage = impl().storage;
  view->shape = shape;
  view->strides = strides;
  view->numel = element_count(shape);
  view->offset =
      view->numel == 0 ? 0 : offset;  // an empty tensor lies nowhere: no address overflows
  view->dtype = dtype();
  view->contiguous = is_row_major(shape, strides);
  return Tensor(std::move(view));
}

Tensor Tensor::detach() const { return alias(shape(), strides(), impl().offset); }

void Tensor::check_dtype(DType wanted) const {
  if (dtype() != wanted) {
    throw DTypeError(text("data: this tensor holds ", dtype(), ", not ", wanted));
  }
}

}  // namespace gradus
