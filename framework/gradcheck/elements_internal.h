// Elements: where the numbers of a tensor under check lie, what they are called, and leaves that
// hold copies of them. Internal to gradcheck.
#pragma once

#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus::checking {

using Numbers = std::vector<double>;

/// For each element in row-major order, its distance from the first one in memory.
std::vector<Index> positions_of(const Tensor& x);

/// Where the element at `index` stands in row-major order: unravel_index() the other way round.
std::size_t nth_of(const Shape& shape, const IndexList& index);

/// "k[0, 2]", "input 1 [0, 2]", and "k" for a tensor without axes.
std::string element_name(const std::string& name, const IndexList& index);

/// A leaf with the numbers and strides of x, in memory of its own that is NaN between and before
/// them, so that an op which ignores strides or offset gives itself away.
Tensor leaf_like(const Tensor& x, const std::vector<Index>& positions);

/// A view with gaps, so that the rules meet gradients with strides.
Tensor with_gaps(const Tensor& x);

/// Whether gradcheck looks at this input or output: it is there, and floating.
bool is_checked(const Tensor& tensor);
std::vector<Tensor> floating(const std::vector<Tensor>& tensors);

/// All numbers, one tensor after the other.
Numbers numbers_of(const std::vector<Tensor>& tensors);
/// The name of the nth of numbers_of(tensors).
std::string place_name(const std::vector<std::string>& names, const std::vector<Tensor>& tensors,
                       std::size_t nth);

}  // namespace gradus::checking
