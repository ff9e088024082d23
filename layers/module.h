// Module: something with parameters. It lists its members once, by name, in visit(); parameters,
// their dotted names, train and eval, dtype, state and printing all derive from that list.
//
//     class Block : public Module {
//      public:
//       Linear up, down;
//       void visit(Visitor& v) override { v("up", up); v("down", down); }
//     };
//
// A member's name is its name in a checkpoint. Modules are moved, not copied: a copy would share
// its parameters with the original.
#pragma once

#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/autograd/trace.h"
#include "framework/core/tensor.h"
#include "framework/io/state_dict.h"

namespace gradus {

class Module;

/// A pointer to a module, or an optional one.
template <class Holder>
concept HoldsModule = requires(Holder& holder) {
  static_cast<bool>(holder);
  requires std::derived_from<std::remove_reference_t<decltype(*holder)>, Module>;
};

/// Is shown every member of a module.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A parameter; one that is undefined (a bias left out) is passed over.
  void operator()(std::string_view name, Tensor& parameter) {
    if (parameter.defined()) on_parameter(name, parameter);
  }
  void operator()(std::string_view name, Module& child) { on_module(name, child); }
  /// A child behind a pointer, or one that may be left out; where there is none, it is passed over.
  template <HoldsModule Holder>
  void operator()(std::string_view name, Holder& child) {
    if (child) on_module(name, *child);
  }
  /// Children named "name.0", "name.1", ...
  template <class Child>
  void operator()(std::string_view name, std::vector<Child>& children) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      on_module(std::string(name) + "." + std::to_string(i), children[i]);
    }
  }

 protected:
  virtual void on_parameter(std::string_view /*name*/, Tensor& /*parameter*/) {}
  virtual void on_module(std::string_view /*name*/, Module& /*child*/) {}
};

class Module {
 public:
  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  virtual ~Module() = default;

  /// Shows `v` every parameter and child. The default is for layers that have none.
  virtual void visit(Visitor& /*v*/) {}
  /// One line for printing, as "Linear(8, 4)".
  virtual std::string description() const = 0;

  /// All parameters with their dotted names, in the order of visit(). Handles: changing one changes
  /// the module. One that is used in two places is listed once, under its first name.
  StateList named_parameters() const;
  /// The same, with one that is used in two places under both its names.
  StateList all_names() const;
  std::vector<Tensor> parameters() const;
  /// Numbers in all parameters together.
  Index parameter_count() const;

  /// Dropout and its like are active in training, the mode of a new module, and off in eval.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  /// Converts every parameter; an optimizer made before holds the old ones.
  void to(DType dtype);
  /// Freezes every parameter, or makes it learn again.
  void requires_grad_(bool wanted);
  /// Drops every parameter's gradient.
  void zero_grad() const;

  /// The parameters by name, off the tape, sharing memory with the module.
  StateDict state_dict() const;
  /// Copies all parameters from `state`; one that is used in two places may stand there under
  /// either name, or both. Throws ValueError that lists all missing and unexpected names and all
  /// differing shapes and dtypes at once, and then changes nothing.
  void load_state_dict(const StateDict& state, const LoadOptions& options = {});

 private:
  bool training_ = true;
};

/// Adds a module's name to the path that steps remember inside a TapeTrace. A module opens one
/// where its computation starts: `const ModuleScope scope(*this);`. Free of cost outside a trace.
class [[nodiscard]] ModuleScope {
 public:
  [[nodiscard]] explicit ModuleScope(const Module& module);
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;
  ~ModuleScope();

 private:
  const Module* outer_ = nullptr;
  std::optional<PathPart> part_;
};

/// A module from one tensor to one tensor.
class Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;
  Tensor operator()(const Tensor& x) const {
    const ModuleScope scope(*this);
    return forward(x);
  }
};

/// Prints the tree of modules with their names, as PyTorch does.
std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace gradus
