#include "examples/gradus/gradcheck/module_function.h"

#include <algorithm>
#include <cstddef>

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

/// Calls back for every parameter of a module and its children, in the order of visit().
class EachParameter : public Visitor {
 public:
  explicit EachParameter(std::function<void(Tensor&)> action) : action_(std::move(action)) {}

 protected:
  void on_parameter(std::string_view /*name*/, Tensor& parameter) override { action_(parameter); }
  void on_module(std::string_view /*name*/, Module& child) override { child.visit(*this); }

 private:
  std::function<void(Tensor&)> action_;
};

/// For every place of a parameter in the module, which of `parameters` stands there.
std::vector<std::size_t> places_in(Module& module, const std::vector<Tensor>& parameters) {
  std::vector<std::size_t> places;
  EachParameter each([&](const Tensor& parameter) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const Tensor& candidate) { return candidate.is_same(parameter); });
    places.push_back(static_cast<std::size_t>(found - parameters.begin()));
  });
  module.visit(each);
  return places;
}

}  // namespace

Checkable module_function(const std::shared_ptr<Module>& module, const std::vector<Tensor>& inputs,
                          const std::vector<std::string>& names, const Forward& forward) {
  module->to(float64);
  Checkable result{[](const Tensor& x) { return x; }, inputs, names};
  for (const auto& [name, parameter] : module->named_parameters()) {
    result.inputs.push_back(parameter);
    result.names.push_back(name);
  }
  const std::size_t own = inputs.size();
  const std::vector<std::size_t> places = places_in(*module, module->parameters());
  result.function = GradcheckFunction([=](const std::vector<Tensor>& given) {
    auto place = places.begin();
    EachParameter each([&](Tensor& parameter) { parameter = given.at(own + *place++); });
    module->visit(each);
    return forward({given.begin(), given.begin() + static_cast<std::ptrdiff_t>(own)});
  });
  return result;
}

}  // namespace examples
