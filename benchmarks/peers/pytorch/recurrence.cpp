// A recurrent network by PyTorch.
#include <memory>

#include <torch/nn.h>

#include "work.h"

namespace work {

Step recurrence_step(const Recurrence& work) {
  torch::nn::Linear cell(work.width, work.width);
  torch::Tensor x = torch::randn({work.batch, work.length, work.width}, torch::requires_grad());
  return [=]() mutable {
    cell->zero_grad(/*set_to_none=*/true);
    x.mutable_grad().reset();
    torch::Tensor h = torch::zeros({work.batch, work.width});
    for (Index t = 0; t < work.length; ++t) h = torch::tanh(cell(h) + x.select(1, t));
    h.sum().backward();
  };
}

}  // namespace work
