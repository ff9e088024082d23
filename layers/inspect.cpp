#include "layers/inspect.h"

#include <unordered_set>

#include "framework/autograd/tape.h"
#include "framework/core/error.h"

namespace gradus {

std::vector<std::string> parameters_without_gradient(const Module& module, const Tensor& loss) {
  if (!loss.requires_grad()) {
    throw AutogradError("parameters_without_gradient: the loss is not on a tape",
                        {.got = text(loss.shape(), " ", loss.dtype())});
  }
  const Tape tape(loss);
  std::unordered_set<const Node*> reached;
  for (const Ref<Node>& step : tape) reached.insert(step.get());
  std::vector<std::string> names;
  for (const auto& [name, parameter] : module.named_parameters()) {
    if (!reached.contains(parameter.impl().node.get())) names.push_back(name);
  }
  return names;
}

}  // namespace gradus
