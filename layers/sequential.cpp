#include "layers/sequential.h"

#include "framework/core/error.h"

namespace gradus {

const Layer& Sequential::operator[](Index index) const {
  if (index < 0 || index >= size()) {
    throw ValueError(text("Sequential: no layer ", index, " among ", size()));
  }
  return *layers_[static_cast<std::size_t>(index)];
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const auto& layer : layers_) y = (*layer)(y);
  return y;
}

}  // namespace gradus
