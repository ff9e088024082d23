#include "framework/autograd/composed_internal.h"

#include "framework/autograd/backward.h"

namespace gradus {

Gradients composed_gradients(
    const Vjp& v, const std::function<Tensor(const std::vector<Tensor>& inputs)>& composed) {
  std::vector<Tensor> inputs;
  std::vector<Tensor> wanted;
  for (std::size_t i = 0; i < v.input_count(); ++i) {
    const Tensor given = v.input(static_cast<Index>(i));
    // A step of its own for each, so that a tensor given twice has its two gradients apart.
    inputs.push_back(given.defined() ? given.view(given.shape()) : given);
    if (v.wants(static_cast<Index>(i))) wanted.push_back(inputs.back());
  }
  const std::vector<Tensor> found =
      gradients({composed(inputs)}, wanted,
                {.grad_outputs = {v.grad()}, .create_graph = true, .allow_unused = true});
  Gradients all(inputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (v.wants(static_cast<Index>(i))) all[i] = found[next++];
  }
  return all;
}

}  // namespace gradus
