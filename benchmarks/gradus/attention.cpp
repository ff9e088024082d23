// Attention by Gradus: MultiHeadAttention, with its weights or without.
#include <memory>

#include <gradus/gradus.h>

#include "work.h"

namespace work {
namespace {

/// Differentiates the sum of what `attend` makes of x.
template <class Attend>
Step differentiated(const std::shared_ptr<gradus::Module>& module, const Attention& work,
                    const Attend& attend) {
  const gradus::DType dtype = work.float64 ? gradus::float64 : gradus::float32;
  module->to(dtype);
  const gradus::Tensor x =
      gradus::randn({work.batch, work.length, work.width}, dtype).requires_grad_();
  return [=] {
    module->zero_grad();
    x.zero_grad();
    attend(x).output.sum().backward();
  };
}

}  // namespace

Step attention_step(const Attention& work) {
  const auto attention =
      std::make_shared<gradus::MultiHeadAttention>(gradus::MultiHeadAttentionOptions{
          .d_model = work.width, .n_heads = work.heads, .dropout = work.dropout});
  const auto mask = gradus::AttentionMask::causal(work.length, work.length);
  return differentiated(attention, work, [=](const gradus::Tensor& x) {
    return (*attention)(x, x, x, mask, work.need_weights);
  });
}

}  // namespace work
