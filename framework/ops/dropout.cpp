#include "framework/ops/dropout.h"

#include "framework/autograd/node.h"
#include "framework/core/random.h"
#include "framework/ops/checks.h"
#include "framework/ops/launch.h"

namespace gradus {

Tensor dropout(const Tensor& x, double p, bool training) {
  check_probability("dropout", p);
  check_floating("dropout", x);
  if (!training || p == 0) return x;
  return dropout_with_key(x, p, LockedGenerator()->next_key());
}

// y = x keep / (1 - p);  dx = g keep / (1 - p)
Tensor dropout_with_key(const Tensor& x, double p, std::uint64_t key) {
  check_probability("dropout", p);
  check_floating("dropout", x);
  Tensor y(x.shape(), x.dtype());
  kernels::table().dropout(x.dtype(), x.numel(), p, key, y.raw(), launch::packed(x).raw());
  return record("dropout", y, {x}, Saves::nothing,
                [p, key](const Vjp& v) { return dropout_with_key(v.grad(), p, key); });
}

}  // namespace gradus
