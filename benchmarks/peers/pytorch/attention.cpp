// Attention by PyTorch: the plain composed module. Its C++ API has no other form, so this is also
// the row where nobody asks for the weights.
#include <memory>

#include <torch/nn.h>

#include "composed_attention.h"
#include "work.h"

namespace work {
namespace {

struct MultiHeadAttention : torch::nn::Module {
  explicit MultiHeadAttention(const Attention& work)
      : heads(work.heads), dropout(work.dropout), hidden(peer::causal_mask(work.length)) {
    for (auto* linear : {&q_linear, &k_linear, &v_linear, &out_linear}) {
      *linear = register_module("linear" + std::to_string(children().size()),
                                torch::nn::Linear(work.width, work.width));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor q = peer::split_heads(q_linear(x), heads);
    const torch::Tensor k = peer::split_heads(k_linear(x), heads);
    const torch::Tensor v = peer::split_heads(v_linear(x), heads);
    return out_linear(peer::merge_heads(peer::attend(q, k, v, hidden, dropout)));
  }

  Index heads;
  double dropout;
  torch::Tensor hidden;
  torch::nn::Linear q_linear{nullptr}, k_linear{nullptr}, v_linear{nullptr}, out_linear{nullptr};
};

}  // namespace

Step attention_step(const Attention& work) {
  const torch::Dtype dtype = work.float64 ? torch::kFloat64 : torch::kFloat32;
  const auto attention = std::make_shared<MultiHeadAttention>(work);
  attention->to(dtype);
  torch::Tensor x = torch::randn({work.batch, work.length, work.width},
                                 torch::TensorOptions(dtype).requires_grad(true));
  return [=]() mutable {
    attention->zero_grad(/*set_to_none=*/true);
    x.mutable_grad().reset();
    attention->forward(x).sum().backward();
  };
}

}  // namespace work
