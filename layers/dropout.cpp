#include "layers/dropout.h"

#include "framework/core/error.h"
#include "framework/core/random.h"
#include "framework/ops/dropout.h"

namespace gradus {

Dropout::Dropout(double p) : p_(p) { check_probability("Dropout", p); }

Tensor Dropout::forward(const Tensor& x) const { return dropout(x, p_, is_training()); }

std::string Dropout::description() const { return text("Dropout(", p_, ")"); }

}  // namespace gradus
