// Training GPT by Gradus.
#include <memory>

#include <gradus/gradus.h>

#include "work.h"

namespace work {

Step gpt_step(const Gpt& work) {
  const auto model = std::make_shared<gradus::GPT>(gradus::GPTOptions{.vocab_size = work.vocabulary,
                                                                      .block_size = work.block,
                                                                      .n_layers = work.layers,
                                                                      .n_heads = work.heads,
                                                                      .d_model = work.width});
  const auto optimizer = std::make_shared<gradus::AdamW>(model->parameters());
  const gradus::Tensor tokens = gradus::randint(0, work.vocabulary, {work.batch, work.block});
  const gradus::Tensor targets = gradus::randint(0, work.vocabulary, {work.batch * work.block});
  return [=] {
    optimizer->zero_grad();
    const gradus::Tensor logits = (*model)(tokens).view({-1, work.vocabulary});
    gradus::cross_entropy(logits, targets).backward();
    optimizer->step();
  };
}

}  // namespace work
