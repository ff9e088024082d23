// Attention by Gradus: MultiHeadAttention, or, where nobody asks for the weights,
// CausalSelfAttention, which leaves them out.
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

Step with_weights(const Attention& work) {
  const auto attention =
      std::make_shared<gradus::MultiHeadAttention>(gradus::MultiHeadAttentionOptions{
          .d_model = work.width, .n_heads = work.heads, .dropout = work.dropout});
  const auto mask = gradus::AttentionMask::causal(work.length, work.length);
  return differentiated(attention, work,
                        [=](const gradus::Tensor& x) { return (*attention)(x, x, x, mask); });
}

Step without_weights(const Attention& work) {
  const auto attention =
      std::make_shared<gradus::CausalSelfAttention>(gradus::CausalSelfAttentionOptions{
          .d_model = work.width, .n_heads = work.heads, .dropout = work.dropout});
  return differentiated(attention, work, [=](const gradus::Tensor& x) { return (*attention)(x); });
}

}  // namespace

Step attention_step(const Attention& work) {
  return work.need_weights ? with_weights(work) : without_weights(work);
}

}  // namespace work
