// Leaves of the tape: the tensors whose gradients a user asks for, and Tensor's view of them.
#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/core/error.h"

namespace gradus {
namespace {

class Leaf final : public Node {
 public:
  explicit Leaf(const Tensor& tensor) : Node("leaf", tensor, true) {}
  void pull_back(const Vjp& /*v*/, std::span<Tensor> /*gradients*/) const override {}
};

Node& node_of(const char* what, const Tensor& tensor) {
  if (!tensor.requires_grad()) {
    throw AutogradError(text(what, ": this tensor requires no gradient"),
                        {.got = text(tensor.shape(), " ", tensor.dtype()),
                         .hint = "requires_grad_() before it is used"});
  }
  return *tensor.impl().node;
}

}  // namespace

Tensor& Tensor::requires_grad_(bool wanted) {
  if (!is_leaf()) {
    throw AutogradError(text("requires_grad_: this tensor is the result of ", impl().node->name()),
                        {.hint = "detach() first, to start a new tape from its numbers"});
  }
  if (wanted && !is_floating(dtype())) {
    throw DTypeError(text("requires_grad_: ", dtype(), " has no gradient"),
                     {.need = "float32 or float64"});
  }
  if (wanted == requires_grad()) return *this;
  impl().node = wanted ? Ref<Node>(new Leaf(*this)) : Ref<Node>();
  return *this;
}

bool Tensor::is_leaf() const { return !requires_grad() || impl().node->is_leaf(); }

Tensor Tensor::grad() const { return requires_grad() ? impl().node->gradient() : Tensor(); }

void Tensor::set_grad(const Tensor& gradient) const {
  Node& node = node_of("set_grad", *this);
  if (gradient.defined() && !(gradient.shape() == shape())) {
    throw ShapeError("set_grad: the gradient does not fit the tensor",
                     {.got = text("gradient ", gradient.shape(), ", tensor ", shape())});
  }
  if (gradient.defined() && gradient.dtype() != dtype()) {
    throw DTypeError(
        text("set_grad: a ", gradient.dtype(), " gradient for a ", dtype(), " tensor"));
  }
  // Off the tape: a leaf that holds a tape that holds the leaf would never be freed.
  node.set_gradient(gradient.requires_grad() ? gradient.detach() : gradient);
}

const Tensor& Tensor::retain_grad() const {
  node_of("retain_grad", *this).retain_gradient();
  return *this;
}

HookHandle Tensor::register_hook(GradientHook hook) const {
  const auto shared = std::make_shared<HookHandle::Hook>(std::move(hook));
  node_of("register_hook", *this).add_hook(shared);
  return HookHandle(shared);
}

void Tensor::backward() const { gradus::backward(*this); }
void Tensor::backward(const BackwardOptions& options) const { gradus::backward(*this, options); }

}  // namespace gradus
