#include "examples/support/pooled.h"

#include <algorithm>

#include "framework/ops/creation.h"

namespace examples {

using gradus::Index;
using gradus::Tensor;

namespace {

Index blocks_along(Index size, Index block) { return (size + block - 1) / block; }

}  // namespace

Pooled pooled(const Tensor& weights, Index most) {
  const Index rows = weights.size(0);
  const Index columns = weights.size(1);
  Index block = 1;
  while (block < std::max(rows, columns) &&
         blocks_along(rows, block) * blocks_along(columns, block) > most) {
    ++block;
  }
  if (block == 1) return {weights, 1};

  const Index across = blocks_along(columns, block);
  const std::vector<double> all = weights.to_vector<double>();
  std::vector<double> largest(static_cast<std::size_t>(blocks_along(rows, block) * across));
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column) {
      double& of_block = largest[static_cast<std::size_t>(row / block * across + column / block)];
      of_block = std::max(of_block, all[static_cast<std::size_t>(row * columns + column)]);
    }
  }
  return {gradus::from_vector(largest, {blocks_along(rows, block), across}), block};
}

}  // namespace examples
