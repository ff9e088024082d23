// Function: an op of one's own, with a rule of one's own.
//
//     const Function cube({.name = "cube",
//                          .forward = [](const Inputs& x) { return x[0] * x[0] * x[0]; },
//                          .rules = {[](const Vjp& v) {
//                            return v.grad() * v.input(0) * v.input(0) * 3.0;
//                          }}});
//     Tensor y = cube({x});
//     std::cout << gradcheck(cube, {x}, {.order = 2});
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/autograd/node.h"

namespace gradus {

using Inputs = std::vector<Tensor>;

class Function {
 public:
  struct Parts {
    std::string name{};
    /// Computes the result; what it does is not recorded.
    std::function<Tensor(const Inputs&)> forward{};
    /// One per input, in order: the gradient of that input from the gradient of the result. Written
    /// with differentiable ops it can be differentiated again. An empty one, or none beside others,
    /// stands for an input without a gradient; no rules at all are an error in backward. One that
    /// captured the result itself would keep the tape for ever: v.output() is it.
    std::vector<std::function<Tensor(const Vjp&)>> rules{};
    /// What the rules may ask for.
    Saves saves = Saves::inputs | Saves::output;
  };

  /// Throws ValueError where name or forward is missing.
  explicit Function(Parts parts);

  /// The result, on the tape if it is floating. Where forward returns a tensor that others hold, an
  /// input say, it is another handle of the same numbers. Throws what forward throws, ValueError
  /// for an undefined input and for more rules than inputs, AutogradError where forward returns
  /// nothing.
  Tensor operator()(const Inputs& inputs) const;

 private:
  std::shared_ptr<const Parts> parts_;  // shared with the steps, which may outlive this
  const char* name_;
};

}  // namespace gradus
