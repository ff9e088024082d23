// ONNX operators of training: losses, dropout and the steps of optimizers. A step is a function of
// the rate, the count of steps and, for several parameters at once, first all parameters, then all
// gradients, then all moments.
#include <cmath>
#include <functional>

#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/dropout.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/goldens_onnx/onnx_case.h"

namespace gradus::testing {
namespace {

// ---- losses: of (N, C, d...) against targets (N, d...) ----

Reduction reduction_of(const OnnxCase& in) {
  const std::string name = in.attr("reduction", "mean");
  return name == "none" ? Reduction::none : name == "sum" ? Reduction::sum : Reduction::mean;
}

Outputs nll(const OnnxCase& in) {
  return {nll_loss(in[0], in[1],
                   {.weight = in[2],
                    .ignore_index = in.attr<Index>("ignore_index", -100),
                    .reduction = reduction_of(in)})};
}

Outputs softmax_cross_entropy(const OnnxCase& in) {
  const Tensor loss = cross_entropy(in[0], in[1],
                                    {.weight = in[2],
                                     .ignore_index = in.attr<Index>("ignore_index", -100),
                                     .reduction = reduction_of(in)});
  return {loss, log_softmax(in[0], 1)};
}

// ---- dropout ----

/// In training the mask, which NumPy drew, is taken from what is wanted: what is tested is the
/// arithmetic around it.
Outputs dropout_of(const OnnxCase& in) {
  const double ratio = in[1].defined() ? in[1].item() : in.attr("ratio", 0.5);
  const bool training = in[2].defined() && in[2].item() != 0;
  if (!training || ratio == 0) {
    return {dropout(in[0], ratio, training), ones(in[0].shape(), boolean)};
  }
  const Tensor kept = in.wanted(1).defined() ? in.wanted(1) : ne(in.wanted(0), 0.0);
  return {masked_fill(in[0], logical_not(kept), 0) / (1 - ratio), kept};
}

// ---- optimizers ----

/// One parameter with its gradient and its moments, and what all of them share.
struct Step {
  const OnnxCase& in;
  Tensor x;
  Tensor gradient;  ///< with the penalty norm_coefficient * x
  Tensor first;
  Tensor second;
  double rate;
  double count;
};

/// The operator by its step, which returns the new parameter and its new moments.
OnnxOp optimizer(std::size_t moments, const std::function<Outputs(const Step&)>& step) {
  return [moments, step](const OnnxCase& in) {
    const std::size_t n = (in.inputs().size() - 2) / (2 + moments);
    Outputs outputs(n * (1 + moments));
    for (std::size_t i = 0; i < n; ++i) {
      const Tensor x = in[2 + i];
      const Outputs stepped =
          step({in, x, in[2 + n + i] + x * in.attr("norm_coefficient", 0.0), in[2 + 2 * n + i],
                in[2 + 3 * n + i], in[0].item(), in[1].item()});
      for (std::size_t k = 0; k < stepped.size(); ++k) outputs[k * n + i] = stepped[k];
    }
    return outputs;
  };
}

Outputs adagrad(const Step& s) {
  const double rate = s.rate / (1 + s.count * s.in.attr("decay_factor", 0.0));
  const Tensor sum = s.first + square(s.gradient);
  return {s.x - s.gradient / (sqrt(sum) + s.in.attr("epsilon", 1e-6)) * rate, sum};
}

Outputs adam(const Step& s) {
  const double alpha = s.in.attr("alpha", 0.9);
  const double beta = s.in.attr("beta", 0.999);
  const Tensor first = s.first * alpha + s.gradient * (1 - alpha);
  const Tensor second = s.second * beta + square(s.gradient) * (1 - beta);
  const double rate =
      s.count > 0 ? s.rate * std::sqrt(1 - std::pow(beta, s.count)) / (1 - std::pow(alpha, s.count))
                  : s.rate;
  const Tensor x = s.x - first / (sqrt(second) + s.in.attr("epsilon", 1e-6)) * rate;
  return {x * (1 - s.in.attr("norm_coefficient_post", 0.0)), first, second};
}

Outputs momentum(const Step& s) {
  const double alpha = s.in.attr("alpha", 0.0);
  const double beta = s.count > 0 ? s.in.attr("beta", 0.0) : 1.0;
  const Tensor velocity = s.first * alpha + s.gradient * beta;
  const bool nesterov = s.in.attr("mode", "standard") == "nesterov";
  return {s.x - (nesterov ? s.gradient + velocity * alpha : velocity) * s.rate, velocity};
}

}  // namespace

OnnxOps onnx_training() {
  return {
      {"NegativeLogLikelihoodLoss", nll},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
      {"Dropout", dropout_of},
      {"Adagrad", optimizer(1, adagrad)},
      {"Adam", optimizer(2, adam)},
      {"Momentum", optimizer(1, momentum)},
  };
}

}  // namespace gradus::testing
