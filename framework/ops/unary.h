// Functions of one variable, applied to every element. They take floating tensors, else DTypeError.
#pragma once

#include "framework/core/tensor.h"

namespace gradus {

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// The derivative at 0 is infinite, and 0 * inf is NaN: add an epsilon where x may reach 0.
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
/// |x|; the derivative at 0 is 0.
Tensor abs(const Tensor& x);
/// 1 / (1 + exp(-x))
Tensor sigmoid(const Tensor& x);
/// max(x, 0); the derivative at 0 is 0, and NaN stays NaN.
Tensor relu(const Tensor& x);
/// 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x
Tensor erf(const Tensor& x);

enum class GeluForm { exact, tanh };
/// x * P(Z < x) for a standard normal Z (Hendrycks and Gimpel, 2016): exactly, by erf, or by the
/// paper's tanh formula, which differs by up to 5e-4.
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact);

}  // namespace gradus
