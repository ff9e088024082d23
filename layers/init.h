// Init: where parameters start. Names, arguments and draws are those of torch.nn.init: each
// function fills a tensor in place, off the tape, from `generator` or else the default one, and
// returns it. A new module has drawn its parameters already; these draw them anew:
//
//     init::normal_(model.token.weight, 0.0, 0.02);
//
// Fans are read off a weight (out, in, ...): fan_in is in * ..., fan_out is out * ....
#pragma once

#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace gradus::init {

/// Evenly from [a, b). Throws as uniform() does.
Tensor& uniform_(Tensor& tensor, double a = 0.0, double b = 1.0, Generator* generator = nullptr);

/// Throws ValueError for a negative deviation (PyTorch's std), and as randn() does.
Tensor& normal_(Tensor& tensor, double mean = 0.0, double deviation = 1.0,
                Generator* generator = nullptr);

Tensor& constant_(Tensor& tensor, double value);

/// Evenly within +-gain * sqrt(6 / (fan_in + fan_out)), or normal with the same deviation, gain *
/// sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, "Understanding the difficulty of training deep
/// feedforward neural networks", 2010). Throw ShapeError for fewer than two axes.
Tensor& xavier_uniform_(Tensor& tensor, double gain = 1.0, Generator* generator = nullptr);
Tensor& xavier_normal_(Tensor& tensor, double gain = 1.0, Generator* generator = nullptr);

enum class FanMode { fan_in, fan_out };

/// Evenly, or normal, with deviation sqrt(2 / ((1 + a^2) * fan)), where a is the negative slope of
/// the leaky ReLU that follows, 0 for ReLU (He et al., "Delving deep into rectifiers", 2015). Throw
/// ShapeError for fewer than two axes.
Tensor& kaiming_uniform_(Tensor& tensor, double a = 0.0, FanMode mode = FanMode::fan_in,
                         Generator* generator = nullptr);
Tensor& kaiming_normal_(Tensor& tensor, double a = 0.0, FanMode mode = FanMode::fan_in,
                        Generator* generator = nullptr);

}  // namespace gradus::init
