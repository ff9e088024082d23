// Module function: a module seen as a function of its inputs and of all its parameters.
#pragma once

#include <functional>
#include <memory>

#include "examples/gradus/gradcheck/subject.h"
#include "layers/module.h"

namespace examples {

/// How a module is run on its inputs.
using Forward = std::function<gradus::Tensor(const std::vector<gradus::Tensor>& inputs)>;

/// The inputs, named, and behind them the parameters under their dotted names, all in float64. A
/// parameter that is used in two places is one input. `forward` runs the module, which is converted
/// here and has other parameters put in whenever the function is called.
Checkable module_function(const std::shared_ptr<gradus::Module>& module,
                          const std::vector<gradus::Tensor>& inputs,
                          const std::vector<std::string>& names, const Forward& forward);

}  // namespace examples
