#include "framework/autograd/function.h"

#include <mutex>
#include <set>
#include <utility>

#include "framework/core/error.h"

namespace gradus {
namespace {

/// The same text, alive for ever: steps outlive the functions that made them.
const char* kept_for_ever(const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  return names.insert(name).first->c_str();
}

void check_inputs(const char* name, const Inputs& inputs, std::size_t rules) {
  if (rules > inputs.size()) {
    throw ValueError(text(name, ": has more rules than inputs"),
                     {.got = text(rules, " rules, ", inputs.size(), " inputs")});
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) continue;
    throw ValueError(text(name, ": input ", i, " is undefined"),
                     {.hint = "give only the inputs that are there, in a Function for each case"});
  }
}

}  // namespace

Function::Function(Parts parts)
    : parts_(std::make_shared<const Parts>(std::move(parts))), name_(kept_for_ever(parts_->name)) {
  if (parts_->name.empty() || !parts_->forward) {
    throw ValueError("Function: needs a name and a forward function");
  }
}

Tensor Function::operator()(const Inputs& inputs) const {
  check_inputs(name_, inputs, parts_->rules.size());
  Tensor output;
  {
    const NoGrad no_grad;
    output = parts_->forward(inputs);
  }
  if (!output.defined()) throw AutogradError(text(name_, ": forward returned no tensor"));
  // The step belongs to the result alone. On a handle that others hold it would appear on their
  // tensor as well, and on an input's own it would be its own ancestor.
  if (output.impl().ref_count() > 1 || output.requires_grad()) output = output.detach();
  if (!is_floating(output.dtype())) return output;
  return record(name_, output, inputs, parts_->saves, [parts = parts_](const Vjp& v) {
    if (parts->rules.empty()) {
      throw AutogradError(text(parts->name, " backward: it has no rules"),
                          {.hint = "Function({... .rules = {...}}), {nullptr} for an input without "
                                   "a gradient; or detach() the result"});
    }
    Gradients gradients(v.input_count());
    for (std::size_t i = 0; i < parts->rules.size(); ++i) {
      const auto& rule = parts->rules[i];
      if (rule && v.wants(static_cast<Index>(i))) gradients[i] = rule(v);
    }
    return gradients;
  });
}

}  // namespace gradus
