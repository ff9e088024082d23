// What a Trial takes: the inputs it may check, as leaves of its own, and the outputs of the
// function.
#include <algorithm>

#include "framework/core/random.h"
#include "framework/gradcheck/trial_internal.h"

namespace gradus::checking {
namespace {

void check_float64(const std::string& what, const Tensor& x, const char* hint) {
  if (x.dtype() == float64) return;
  throw DTypeError(text("gradcheck: ", what, " is ", x.dtype(), ", too coarse for differences"),
                   {.got = text(what, " ", x.shape(), " ", x.dtype()),
                    .need = "float64: float32 rounds a step of 6e-6 away",
                    .hint = hint});
}

void check_apart(const std::string& name, const Tensor& x, std::vector<Index> positions) {
  std::ranges::sort(positions);
  if (std::ranges::adjacent_find(positions) == positions.end()) return;
  throw ValueError(text("gradcheck: ", name, " overlaps itself: moving one element moves others"),
                   {.got = text(x.shape(), " with strides ", x.strides()),
                    .hint = "clone() it, or expand() it inside the function"});
}

void check_frozen(const std::string& name, const Tensor& x, const Tensor& mask) {
  if (!mask.defined() || (mask.dtype() == boolean && mask.shape() == x.shape())) return;
  throw ValueError(
      text("gradcheck: the frozen mask does not fit ", name),
      {.got = text("mask ", mask.shape(), " ", mask.dtype()), .need = text(x.shape(), " bool")});
}

/// The floating outputs. Throws where there is none, and where one passed through float32.
std::vector<Tensor> checked_outputs(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> result = floating(outputs);
  if (result.empty()) throw ValueError("gradcheck: the function returned no floating tensor");
  const char* hint = "compute in float64 throughout: model.to(float64)";
  for (std::size_t i = 0; i < result.size(); ++i) {
    check_float64(text("output ", i), result[i], hint);
  }
  const Tape tape(result);
  for (const Ref<Node>& step : tape) {
    if (step->dtype() == float64) continue;
    throw DTypeError(
        text("gradcheck: the function computes in ", step->dtype(), " on the way"),
        {.got = text("step ", step->name(), " ", step->shape(), " ", step->dtype()), .hint = hint});
  }
  return result;
}

}  // namespace

std::string name_of(const GradcheckOptions& options, std::size_t number) {
  return options.names.empty() ? text("input ", number) : options.names[number];
}

Tensor random_cotangent(const Tensor& output, Generator& generator) {
  Numbers numbers(static_cast<std::size_t>(output.numel()));
  generator.fill_uniform(numbers, -1.0, 1.0);
  for (double& number : numbers) number += number < 0.0 ? -0.5 : 0.5;
  Tensor cotangent(output.shape(), float64);
  std::ranges::copy(numbers, cotangent.mutable_data<double>());
  return cotangent;
}

Trial::Trial(GradcheckFunction function, const std::vector<Tensor>& inputs,
             const GradcheckOptions& options, int order, GradcheckReport& report)
    : function_(std::move(function)),
      options_(options),
      order_(order),
      report_(report),
      arguments_(inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_checked(inputs[i])) variables_.push_back(made_variable(i, inputs[i]));
  }
  for (const Variable& variable : variables_) arguments_[variable.number] = variable.leaf;
  if (!variables_.empty()) return;
  throw ValueError("gradcheck: nothing to check: no input is a floating tensor",
                   {.got = text(inputs.size(), " inputs")});
}

std::vector<Tensor> Trial::outputs() {
  ++report_.evaluations;
  return checked_outputs(function_(arguments_));
}

Variable Trial::made_variable(std::size_t number, const Tensor& input) const {
  const std::string name = name_of(options_, number);
  check_float64(name, input, "x.to(float64), and model.to(float64) for a layer");
  const std::vector<Index> positions = positions_of(input);
  check_apart(name, input, positions);
  std::vector<bool> frozen(positions.size(), false);
  if (!options_.frozen.empty() && options_.frozen[number].defined()) {
    check_frozen(name, input, options_.frozen[number]);
    frozen = options_.frozen[number].to_vector<bool>();
  }
  return {number, leaf_like(input, positions), positions, std::move(frozen)};
}

}  // namespace gradus::checking
