#include <algorithm>
#include <iterator>
#include <limits>

#include "framework/core/error.h"
#include "framework/gradcheck/elements_internal.h"

namespace gradus::checking {

std::vector<Index> positions_of(const Tensor& x) {
  std::vector<Index> positions;
  IndexList index = IndexList::filled(x.dim(), 0);
  for (Index n = 0; n < x.numel(); ++n) {
    Index position = 0;
    for (Index i = 0; i < x.dim(); ++i) position += index[i] * x.strides()[i];
    positions.push_back(position);
    for (Index i = x.dim() - 1; i >= 0 && ++index[i] == x.shape()[i]; --i) index[i] = 0;
  }
  return positions;
}

std::size_t nth_of(const Shape& shape, const IndexList& index) {
  Index nth = 0;
  for (Index i = 0; i < shape.size(); ++i) nth = nth * shape[i] + index[i];
  return static_cast<std::size_t>(nth);
}

std::string element_name(const std::string& name, const IndexList& index) {
  std::string result = name;
  for (Index i = 0; i < index.size(); ++i) {
    const char* before = i > 0 ? ", " : name.find(' ') == std::string::npos ? "[" : " [";
    result += text(before, index[i]);
  }
  return index.empty() ? result : result + "]";
}

Tensor leaf_like(const Tensor& x, const std::vector<Index>& positions) {
  const Index extent = positions.empty() ? 0 : *std::ranges::max_element(positions) + 1;
  const Index offset = std::min(x.impl().offset, 8 + x.impl().offset % 8);
  Tensor memory(Shape{offset + extent}, float64);
  memory.fill_(std::numeric_limits<double>::quiet_NaN());
  Tensor leaf = memory.alias(x.shape(), x.strides(), offset);
  leaf.copy_(x.detach());
  return leaf.requires_grad_();
}

Tensor with_gaps(const Tensor& x) {
  Strides strides = x.strides();
  for (Index& stride : strides) stride *= 2;
  Tensor result = Tensor(Shape{2 * x.numel()}, x.dtype()).alias(x.shape(), strides, 0);
  return result.copy_(x);
}

bool is_checked(const Tensor& tensor) { return tensor.defined() && is_floating(tensor.dtype()); }

std::vector<Tensor> floating(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  std::ranges::copy_if(tensors, std::back_inserter(result), is_checked);
  return result;
}

Numbers numbers_of(const std::vector<Tensor>& tensors) {
  Numbers numbers;
  for (const Tensor& tensor : tensors) {
    const Numbers more = tensor.to_vector<double>();
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

std::string place_name(const std::vector<std::string>& names, const std::vector<Tensor>& tensors,
                       std::size_t nth) {
  std::size_t k = 0;
  for (; nth >= static_cast<std::size_t>(tensors[k].numel()); ++k) {
    nth -= static_cast<std::size_t>(tensors[k].numel());
  }
  return element_name(names[k], unravel_index(static_cast<Index>(nth), tensors[k].shape()));
}

}  // namespace gradus::checking
