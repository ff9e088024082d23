// A recurrent network by Gradus.
#include <memory>

#include <gradus/gradus.h>

#include "work.h"

namespace work {

Step recurrence_step(const Recurrence& work) {
  const auto cell = std::make_shared<gradus::Linear>(work.width, work.width);
  const gradus::Tensor x = gradus::randn({work.batch, work.length, work.width}).requires_grad_();
  return [=] {
    cell->zero_grad();
    x.zero_grad();
    gradus::Tensor h = gradus::zeros({work.batch, work.width});
    for (Index t = 0; t < work.length; ++t) h = tanh((*cell)(h) + x.select(1, t));
    h.sum().backward();
  };
}

}  // namespace work
