// The check of a layer's gradients: by its inputs and by every parameter, to second order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/gradcheck/gradcheck.h"
#include "layers/module.h"
#include "tests/support/catch.h"
#include "tests/support/gradcheck.h"

namespace gradus::testing {

/// Puts tensors in the place of a module's parameters, in the order of visit().
class Replacement : public Visitor {
 public:
  explicit Replacement(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}

 protected:
  void on_parameter(std::string_view /*name*/, Tensor& parameter) override {
    parameter = tensors_.at(next_++);
  }
  void on_module(std::string_view /*name*/, Module& child) override { child.visit(*this); }

 private:
  std::vector<Tensor> tensors_;
  std::size_t next_ = 0;
};

/// The dotted names of all parameters, after those of the inputs.
inline std::vector<std::string> names_with_parameters(const Module& layer, std::size_t inputs) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs; ++i) names.push_back("input " + std::to_string(i));
  for (const auto& [name, parameter] : layer.named_parameters()) names.push_back(name);
  return names;
}

/// Checks first and second derivatives of forward(inputs), which runs `layer`, by the inputs and by
/// every parameter, all float64. No parameter may be shared.
template <class Forward>
void check_layer_gradients(Module& layer, const std::vector<Tensor>& inputs, Forward forward,
                           GradcheckOptions options = {}) {
  const std::vector<Tensor> own = layer.parameters();
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), own.begin(), own.end());
  const auto count = static_cast<std::ptrdiff_t>(inputs.size());
  const auto function = [&](const std::vector<Tensor>& given) {
    Replacement parameters({given.begin() + count, given.end()});
    layer.visit(parameters);
    return forward(std::vector<Tensor>(given.begin(), given.begin() + count));
  };
  options.names = names_with_parameters(layer, inputs.size());
  options.order = 2;
  CHECK_GRADIENTS(function, all, options);
  Replacement parameters(own);
  layer.visit(parameters);
}

/// The same for a Layer, of one input.
inline void check_layer_gradients(Layer& layer, const Tensor& x, GradcheckOptions options = {}) {
  check_layer_gradients(
      layer, {x}, [&](const std::vector<Tensor>& given) { return layer(given[0]); },
      std::move(options));
}

}  // namespace gradus::testing
