// Training GPT-2 by PyTorch, with the queries, keys and values of a block in one product, as GPT-2
// and nanoGPT have them: that is PyTorch's quicker way.
#include <memory>
#include <vector>

#include <torch/nn.h>
#include <torch/optim.h>

#include "composed_attention.h"
#include "work.h"

namespace work {
namespace {

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(const Gpt& work) : heads(work.heads), hidden(peer::causal_mask(work.block)) {
    const Index width = work.width;
    norm1 = register_module("norm1", torch::nn::LayerNorm(std::vector<Index>{width}));
    qkv = register_module("qkv", torch::nn::Linear(width, 3 * width));
    out = register_module("out", torch::nn::Linear(width, width));
    norm2 = register_module("norm2", torch::nn::LayerNorm(std::vector<Index>{width}));
    up = register_module("up", torch::nn::Linear(width, 4 * width));
    down = register_module("down", torch::nn::Linear(4 * width, width));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor middle = x + attention(norm1(x));
    return middle + down(torch::gelu(up(norm2(middle))));
  }

  torch::Tensor attention(const torch::Tensor& x) {
    const std::vector<torch::Tensor> parts = qkv(x).chunk(3, -1);
    const torch::Tensor q = peer::split_heads(parts[0], heads);
    const torch::Tensor k = peer::split_heads(parts[1], heads);
    const torch::Tensor v = peer::split_heads(parts[2], heads);
    return out(peer::merge_heads(peer::attend(q, k, v, hidden, 0.0)));
  }

  Index heads;
  torch::Tensor hidden;
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
};
TORCH_MODULE(Block);

struct Model : torch::nn::Module {
  explicit Model(const Gpt& work) : positions(torch::arange(work.block)) {
    token = register_module("token", torch::nn::Embedding(work.vocabulary, work.width));
    position = register_module("position", torch::nn::Embedding(work.block, work.width));
    for (Index i = 0; i < work.layers; ++i) blocks->push_back(Block(work));
    register_module("blocks", blocks);
    norm = register_module("norm", torch::nn::LayerNorm(std::vector<Index>{work.width}));
    for (const torch::Tensor& parameter : parameters()) start(parameter);
  }

  /// As GPT-2 starts: vectors, that is biases and norms, stay as they are.
  static void start(const torch::Tensor& parameter) {
    const torch::NoGradGuard no_grad;
    if (parameter.dim() == 2) parameter.normal_(0.0, 0.02);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    const torch::Tensor x = blocks->forward(token(tokens) + position(positions));
    return torch::linear(norm(x), token->weight);
  }

  torch::Tensor positions;
  torch::nn::Embedding token{nullptr}, position{nullptr};
  torch::nn::Sequential blocks;
  torch::nn::LayerNorm norm{nullptr};
};

}  // namespace

Step gpt_step(const Gpt& work) {
  const auto model = std::make_shared<Model>(work);
  const auto optimizer = std::make_shared<torch::optim::AdamW>(model->parameters());
  const torch::Tensor tokens =
      torch::randint(work.vocabulary, {work.batch, work.block}, torch::kInt64);
  const torch::Tensor targets =
      torch::randint(work.vocabulary, {work.batch * work.block}, torch::kInt64);
  return [=] {
    model->zero_grad(/*set_to_none=*/true);
    const torch::Tensor logits = model->forward(tokens).view({-1, work.vocabulary});
    torch::nn::functional::cross_entropy(logits, targets).backward();
    optimizer->step();
  };
}

}  // namespace work
