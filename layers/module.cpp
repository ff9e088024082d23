#include "layers/module.h"

#include <algorithm>
#include <ostream>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/io/state_match.h"

namespace gradus {
namespace {

/// Calls f(dotted name, parameter) for every parameter below.
template <class F>
class ParameterWalk final : public Visitor {
 public:
  ParameterWalk(std::string prefix, F& f) : prefix_(std::move(prefix)), f_(f) {}

 protected:
  void on_parameter(std::string_view name, Tensor& parameter) override {
    f_(prefix_ + std::string(name), parameter);
  }
  void on_module(std::string_view name, Module& child) override {
    ParameterWalk below(prefix_ + std::string(name) + ".", f_);
    child.visit(below);
  }

 private:
  std::string prefix_;
  F& f_;
};

// visit() is not const, since it hands out parameters that may be changed. Walks that only read are
// const to the user all the same.
template <class F>
void for_each_parameter(const Module& module, F f) {
  ParameterWalk<F> walk("", f);
  const_cast<Module&>(module).visit(walk);
}

/// Forgets the gradient of every parameter below.
class GradientWalk final : public Visitor {
 protected:
  void on_parameter(std::string_view /*name*/, Tensor& parameter) override {
    if (parameter.requires_grad()) parameter.zero_grad();
  }
  void on_module(std::string_view /*name*/, Module& child) override { child.visit(*this); }
};

/// Calls f(name, child) for every direct child.
template <class F>
class ChildWalk final : public Visitor {
 public:
  explicit ChildWalk(F& f) : f_(f) {}

 protected:
  void on_module(std::string_view name, Module& child) override { f_(name, child); }

 private:
  F& f_;
};

template <class F>
void for_each_child(const Module& module, F f) {
  ChildWalk<F> walk(f);
  const_cast<Module&>(module).visit(walk);
}

/// The module at work on this thread inside a TapeTrace.
thread_local const Module* module_at_work = nullptr;

/// What its parent calls a module; the outermost has no name.
std::string name_within(const Module* parent, const Module& module) {
  std::string found;
  if (!parent) return found;
  for_each_child(*parent, [&](std::string_view name, const Module& child) {
    if (&child == &module) found = name;
  });
  return found;
}

void print(std::ostream& out, const Module& module, const std::string& indent) {
  out << module.description();
  bool any = false;
  for_each_child(module, [&](std::string_view name, const Module& child) {
    out << (any ? "\n" : " (\n") << indent << "  (" << name << "): ";
    print(out, child, indent + "  ");
    any = true;
  });
  if (any) out << "\n" << indent << ")";
}

}  // namespace

ModuleScope::ModuleScope(const Module& module) {
  if (!TapeTrace::is_active()) return;
  outer_ = module_at_work;
  part_.emplace(name_within(outer_, module));
  module_at_work = &module;
}

ModuleScope::~ModuleScope() {
  if (part_) module_at_work = outer_;
}

StateList Module::named_parameters() const {
  StateList all;
  for_each_parameter(*this, [&](const std::string& name, const Tensor& parameter) {
    const bool seen = std::any_of(
        all.begin(), all.end(), [&](const auto& known) { return known.second.is_same(parameter); });
    if (!seen) all.emplace_back(name, parameter);
  });
  return all;
}

StateList Module::all_names() const {
  StateList all;
  for_each_parameter(*this, [&all](const std::string& name, const Tensor& parameter) {
    all.emplace_back(name, parameter);
  });
  return all;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> all;
  for (auto& [name, parameter] : named_parameters()) all.push_back(parameter);
  return all;
}

Index Module::parameter_count() const {
  Index count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

void Module::train(bool on) {
  training_ = on;
  for_each_child(*this, [on](std::string_view, Module& child) { child.train(on); });
}

void Module::to(DType dtype) {
  if (!is_floating(dtype)) {
    throw DTypeError(text("to: parameters cannot be ", dtype), {.need = "float32 or float64"});
  }
  const NoGrad no_grad;
  std::vector<std::pair<Tensor, Tensor>> converted;  // a shared parameter stays shared
  for_each_parameter(*this, [&](const std::string&, Tensor& parameter) {
    if (parameter.dtype() == dtype) return;
    for (const auto& [before, after] : converted) {
      if (before.is_same(parameter)) {
        parameter = after;
        return;
      }
    }
    Tensor after = parameter.detach().to(dtype);
    after.requires_grad_(parameter.requires_grad());
    converted.emplace_back(parameter, after);
    parameter = after;
  });
}

void Module::requires_grad_(bool wanted) {
  for_each_parameter(
      *this, [wanted](const std::string&, Tensor& parameter) { parameter.requires_grad_(wanted); });
}

void Module::zero_grad() const {
  GradientWalk walk;
  const_cast<Module*>(this)->visit(walk);
}

StateDict Module::state_dict() const {
  StateDict state;
  for (const auto& [name, parameter] : named_parameters()) state.emplace(name, parameter.detach());
  return state;
}

void Module::load_state_dict(const StateDict& state, const LoadOptions& options) {
  const StateMatch match(all_names(), state, options);
  if (!match.is_complete()) {
    throw ValueError("load_state_dict: the state does not match the module" +
                     match.report("state", "module"));
  }
  match.copy();
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  print(out, module, "");
  return out;
}

}  // namespace gradus
