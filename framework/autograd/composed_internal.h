// Composed gradients: how a fused op, whose kernels know its first derivative only, has all others.
#pragma once

#include <functional>
#include <vector>

#include "framework/autograd/node.h"

namespace gradus {

/// The gradients of a step by those of its inputs that want one, taken of `composed`, which must
/// compute the step's output from its inputs by other ops. The step must have saved its inputs. For
/// a rule whose result is to be differentiated again, that is where grad_enabled(): what comes back
/// is on the tape.
Gradients composed_gradients(
    const Vjp& v, const std::function<Tensor(const std::vector<Tensor>& inputs)>& composed);

}  // namespace gradus
