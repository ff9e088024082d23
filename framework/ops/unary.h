// Functions of one variable, applied to every element. They take floating tensors, else DTypeError.
#pragma once

#include <optional>

#include "framework/core/tensor.h"

namespace gradus {

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// The derivative at 0 is infinite, and 0 * inf is NaN: add an epsilon where x may reach 0.
Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x)
Tensor rsqrt(const Tensor& x);
/// 1 / x
Tensor reciprocal(const Tensor& x);
/// x * x
Tensor square(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
/// |x|; the derivative at 0 is 0. Takes int64, too.
Tensor abs(const Tensor& x);
/// -1, 0 or 1; no gradient. NaN stays NaN.
Tensor sign(const Tensor& x);
Tensor floor(const Tensor& x);  ///< no gradient
Tensor ceil(const Tensor& x);   ///< no gradient
/// 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x
Tensor erf(const Tensor& x);

/// x to a power, elementwise. The derivative by x is 0 for the exponent 0, and that by a tensor of
/// exponents 0 where x is 0.
Tensor pow(const Tensor& x, double exponent);
Tensor pow(const Tensor& x, const Tensor& exponent);

/// x held between the bounds, of which one may be left out; the derivative is 1 inside and at the
/// bounds. NaN stays NaN. Where min > max everything becomes max, as in PyTorch. Takes int64, too.
Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max = std::nullopt);

// ---- activations ----
Tensor tanh(const Tensor& x);
/// 1 / (1 + exp(-x))
Tensor sigmoid(const Tensor& x);
/// max(x, 0); the derivative at 0 is 0, and NaN stays NaN.
Tensor relu(const Tensor& x);
/// x where x > 0, else negative_slope * x; the derivative at 0 is negative_slope.
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
/// x * sigmoid(x)
Tensor silu(const Tensor& x);
/// log(1 + exp(beta * x)) / beta, without overflow. (PyTorch goes over to x beyond a threshold; the
/// two differ by less than 3e-9 there.) Throws ValueError unless beta > 0.
Tensor softplus(const Tensor& x, double beta = 1.0);

enum class GeluForm { exact, tanh };
/// x * P(Z < x) for a standard normal Z (Hendrycks and Gimpel, 2016): exactly, by erf, or by the
/// paper's tanh formula, which differs by up to 5e-4.
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact);

}  // namespace gradus
