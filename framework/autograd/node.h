// Node: one step of the tape, and record(), by which an op writes itself there.
//
// A step holds its name, its inputs' steps, the values its rule will need, and the rule. The rule
// of an op is one function per differentiable input, from the gradient of the output (a Vjp) to the
// gradient of that input. Written with differentiable ops, it has derivatives of its own:
//
//     // y = exp(x);  dx = g * y
//     return record("exp", y, {x}, Saves::output,
//                   [](const Vjp& v) { return v.grad() * v.output(); });
//
// A step never owns its output, so a tape holds no cycle: the last handle that goes frees it all.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/autograd/no_grad.h"
#include "framework/autograd/trace.h"
#include "framework/core/tensor.h"

namespace gradus {

/// Which values a step keeps for its rule, a bit for each. A rule that asks for another fails.
enum class Saves : unsigned {
  nothing = 0,
  output = 1,
  input0 = 2,
  input1 = 4,
  input2 = 8,
  inputs = ~1U,  ///< all of them
};
constexpr Saves operator|(Saves a, Saves b) {
  return static_cast<Saves>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

class Vjp;

class Node : public RefCounted, public InBlocks {
 public:
  /// A value kept for the rule, and the version it had then.
  struct Saved {
    Tensor value;
    std::uint32_t version = 0;
    bool kept = false;
  };
  struct Input {
    Ref<Node> node;  ///< null when this input wants no gradient
    Saved saved;
  };

  virtual ~Node() = default;

  const char* name() const { return name_; }
  /// Rises with every step recorded in this process: inputs have smaller numbers.
  std::uint64_t sequence() const { return sequence_; }
  const Shape& shape() const { return shape_; }  ///< of the output
  DType dtype() const { return dtype_; }
  std::span<const Input> inputs() const { return inputs_; }
  const Saved& saved_output() const { return output_; }
  bool is_leaf() const { return is_leaf_; }
  /// True once backward() has passed and freed what this step had saved.
  bool is_released() const { return released_; }

  /// Inside a TapeTrace: the path of the module it belongs to, else "", and the value it computed,
  /// else undefined.
  const char* path() const { return path_; }
  const Tensor& value() const { return value_; }

  /// The rule: fills in the gradient of each input that wants one.
  virtual void pull_back(const Vjp& v, std::span<Tensor> gradients) const = 0;
  /// Forgets the saved values.
  void release_saved();

  /// The gradient left by backward(): of leaves, and of steps that were asked to retain it.
  Tensor gradient() const;
  void set_gradient(const Tensor& gradient);
  /// Adds to the gradient. Safe when several threads do so at once.
  void accumulate_gradient(Tensor gradient);
  bool retains_gradient() const { return retains_gradient_; }
  void retain_gradient() { retains_gradient_ = true; }

  void add_hook(std::shared_ptr<const HookHandle::Hook> hook);
  /// The gradient after all hooks, in the order in which they were added.
  Tensor hooked(Tensor gradient) const {
    return hooks_.empty() ? std::move(gradient) : through_hooks(std::move(gradient));
  }

 protected:
  Node(const char* name, const Tensor& output, bool is_leaf);
  /// Links the inputs and keeps what `saves` names.
  void connect(const Tensor& output, std::span<const Tensor> inputs, std::span<Input> places,
               Saves saves);
  virtual void release_rule() {}

 private:
  friend class Vjp;
  friend void release(Node* node) noexcept;

  Tensor through_hooks(Tensor gradient) const;

  const char* name_;
  std::uint64_t sequence_;
  Shape shape_;
  DType dtype_;
  bool is_leaf_;
  bool released_ = false;
  bool retains_gradient_ = false;
  std::span<Input> inputs_;
  Saved output_;
  Tensor gradient_;
  const char* path_ = "";
  Tensor value_;
  std::vector<std::shared_ptr<const HookHandle::Hook>> hooks_;
  Node* next_dying_ = nullptr;  // see release()
};

/// The gradients that steps have received so far in a backward pass.
class GradientSums {
 public:
  /// The sum at a step, where it may be added to in place; else undefined.
  virtual Tensor so_far(const Node& step) const = 0;

 protected:
  ~GradientSums() = default;
};

/// What a rule may ask: the gradient of the step's output, and the values the step saved.
class Vjp {
 public:
  /// `sums` may be null.
  Vjp(const Node& step, const Tensor& gradient, const GradientSums* sums)
      : step_(step), gradient_(gradient), sums_(sums) {}

  /// dL/d(output); same shape and dtype as the output.
  const Tensor& grad() const { return gradient_; }
  /// The saved input i; undefined where the op was given none. Throws AutogradError when it was
  /// changed in place since.
  Tensor input(Index i) const;
  /// The saved output. Throws AutogradError when it was changed in place since.
  Tensor output() const;
  std::size_t input_count() const { return step_.inputs().size(); }
  /// Whether input i wants a gradient.
  bool wants(Index i) const { return static_cast<bool>(input_at(i).node); }
  /// The sum that input i has received so far, where it may be added to: a rule may do so in place,
  /// by kernels, and then returns no gradient for it. Undefined where there is none, or a handle to
  /// it is still held.
  Tensor sum_so_far(Index i) const;

 private:
  const Node::Input& input_at(Index i) const {
    if (i < 0 || i >= std::ssize(step_.inputs())) throw_no_input(i);
    return step_.inputs()[static_cast<std::size_t>(i)];
  }
  [[noreturn]] void throw_no_input(Index i) const;

  const Node& step_;
  const Tensor& gradient_;
  const GradientSums* sums_;
};

/// Gradients of all inputs at once, for rules that compute them together; an undefined tensor
/// stands for none.
using Gradients = std::vector<Tensor, BlockAllocator<Tensor>>;

namespace detail {

/// Throws AutogradError where a rule returned more gradients than its step has inputs.
void check_count(const char* name, std::size_t gradients, std::size_t inputs);
inline bool must_record(std::span<const Tensor> inputs) {
  return grad_enabled() && std::any_of(inputs.begin(), inputs.end(),
                                       [](const Tensor& input) { return input.requires_grad(); });
}
void attach(const Tensor& output, Ref<Node> step);
/// For a NanTrace: throws AutogradError where the op turned finite numbers into others.
void check_finite(const char* name, const Tensor& output, std::span<const Tensor> inputs);
/// The same for a gradient that a rule made of the one that arrived.
void check_finite_gradient(const Node& step, std::size_t i, const Tensor& gradient,
                           const Tensor& arrived);

/// A step with its rules, and room for its inputs: std::array<Node::Input, n> or a vector of them.
template <class Places, class... Rules>
class Step final : public Node {
 public:
  Step(const char* name, const Tensor& output, std::span<const Tensor> inputs, Places places,
       Saves saves, Rules... rules)
      : Node(name, output, false),
        places_(std::move(places)),
        rules_(std::in_place, std::move(rules)...) {
    connect(output, inputs, places_, saves);
  }

  void pull_back(const Vjp& v, std::span<Tensor> gradients) const override {
    if constexpr ((std::is_same_v<std::invoke_result_t<const Rules&, const Vjp&>, Gradients> &&
                   ...)) {
      static_assert(sizeof...(Rules) == 1, "one rule returns the Gradients of all inputs");
      Gradients all = std::get<0>(*rules_)(v);
      check_count(name(), all.size(), gradients.size());
      std::move(all.begin(), all.end(), gradients.begin());
    } else {
      each_input(v, gradients, std::index_sequence_for<Rules...>{});
    }
  }

 private:
  template <std::size_t... I>
  void each_input(const Vjp& v, std::span<Tensor> gradients, std::index_sequence<I...>) const {
    ((v.wants(I) ? void(gradients[I] = std::get<I>(*rules_)(v)) : void()), ...);
  }
  void release_rule() override { rules_.reset(); }

  Places places_;
  std::optional<std::tuple<Rules...>> rules_;
};

}  // namespace detail

/// Puts `output`, just computed from `inputs`, on the tape, when grad_enabled() and an input
/// requires a gradient, and returns it. `name` must live for ever. Give one rule per differentiable
/// input, in order (inputs beyond them get no gradient), or a single rule that returns Gradients.
/// An optional input may be undefined.
/// A rule may capture numbers and shapes, and tensors that no input wants a derivative through.
template <std::size_t N, class... Rules>
Tensor record(const char* name, Tensor output, const Tensor (&inputs)[N], Saves saves,
              Rules... rules) {
  if (NanTrace::is_active()) detail::check_finite(name, output, inputs);
  static_assert(sizeof...(Rules) <= N, "a rule for each input at most");
  if (detail::must_record(inputs)) {
    using Places = std::array<Node::Input, N>;
    detail::attach(output, new detail::Step<Places, Rules...>(name, output, inputs, Places{}, saves,
                                                              std::move(rules)...));
  }
  return output;
}

/// The same for a number of inputs known only at run time, with one rule that returns Gradients.
template <class Rule>
Tensor record(const char* name, Tensor output, const std::vector<Tensor>& inputs, Saves saves,
              Rule rule) {
  if (NanTrace::is_active()) detail::check_finite(name, output, inputs);
  if (detail::must_record(inputs)) {
    using Places = std::vector<Node::Input, BlockAllocator<Node::Input>>;
    detail::attach(
        output, new detail::Step<Places, Rule>(name, output, inputs, Places(inputs.size()), saves,
                                               std::move(rule)));
  }
  return output;
}

}  // namespace gradus
