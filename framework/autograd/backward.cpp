#include "framework/autograd/backward.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "framework/autograd/gradient_sum_internal.h"
#include "framework/autograd/node.h"
#include "framework/autograd/trace.h"
#include "framework/core/error.h"

namespace gradus {
namespace {

Tensor if_ours_alone(const Tensor& tensor) { return is_ours_alone(tensor) ? tensor : Tensor(); }

/// The steps that have received gradients and wait for their turn, newest first. A step's consumers
/// are all newer than itself, so the newest waiting step has received all it ever will.
class Waiting final : public GradientSums {
 public:
  struct Entry {
    Ref<Node> node;
    Tensor gradient;
  };

  bool empty() const { return !newest_.node && others_.empty(); }

  void add(const Ref<Node>& node, Tensor gradient) {
    Entry& entry = entry_of(node);
    if (!entry.node) {
      entry = {node, std::move(gradient)};
    } else {
      entry.gradient = sum_of(entry.gradient, gradient);
    }
  }

  Tensor so_far(const Node& step) const override {
    if (&step == newest_.node.get()) return if_ours_alone(newest_.gradient);
    const auto place = others_.find(step.sequence());
    return place == others_.end() ? Tensor() : if_ours_alone(place->second.gradient);
  }

  Entry take_newest() {
    if (newest_.node) return std::exchange(newest_, {});
    const auto first = others_.begin();
    Entry entry = std::move(first->second);
    others_.erase(first);
    return entry;
  }

 private:
  /// The entry of a step, or an empty one that is to be filled.
  Entry& entry_of(const Ref<Node>& node) {
    if (node == newest_.node) return newest_;
    const std::uint64_t sequence = node->sequence();
    if ((newest_.node && newest_.node->sequence() > sequence) ||
        (!others_.empty() && others_.begin()->first >= sequence)) {
      return others_[sequence];
    }
    if (newest_.node) {
      const std::uint64_t before = newest_.node->sequence();
      others_[before] = std::exchange(newest_, {});
    }
    return newest_;
  }

  using InOrder = std::pair<const std::uint64_t, Entry>;
  Entry newest_;  // newer than all others, or empty; in a chain of steps, there are no others
  std::map<std::uint64_t, Entry, std::greater<>, BlockAllocator<InOrder>>
      others_;  // by sequence number
};

void check_gradient(const Node& step, std::size_t i, const Tensor& gradient) {
  const Node& input = *step.inputs()[i].node;
  if (gradient.shape() == input.shape() && gradient.dtype() == input.dtype()) return;
  throw AutogradError(
      text(step.name(), " backward: its rule returned a gradient that does not fit input ", i),
      {.got = text(gradient.shape(), " ", gradient.dtype()),
       .need = text(input.shape(), " ", input.dtype(), ", as the input")});
}

/// A gradient in memory of its own, so that a user may change one grad() without touching another,
/// and off the tape, so that no leaf holds a tape that holds the leaf.
Tensor owned(Tensor gradient) {
  return is_ours_alone(gradient) ? std::move(gradient) : gradient.clone();
}

/// A gradient as it is, or a copy where it is among those handed out already.
Tensor unshared(const Tensor& gradient, const std::vector<Tensor>& others) {
  const bool shared = std::any_of(others.begin(), others.end(),
                                  [&](const Tensor& other) { return other.is_same(gradient); });
  return shared ? gradient.clone() : gradient;
}

/// One run over the tape. `arrive` sees each step, before its rule runs, with its whole gradient;
/// the rule runs only if it says so.
class Pass {
 public:
  explicit Pass(bool retain_graph) : retain_graph_(retain_graph) {}

  void start_from(const Tensor& output, Tensor gradient) {
    waiting_.add(output.impl().node, std::move(gradient));
  }

  template <class Arrive, class Follow>
  void run(Arrive arrive, Follow follow) {
    while (!waiting_.empty()) {
      Waiting::Entry entry = waiting_.take_newest();
      Node& step = *entry.node;
      entry.gradient = step.hooked(std::move(entry.gradient));
      if (arrive(step, entry.gradient) && !step.is_leaf()) pull_back(step, entry.gradient, follow);
    }
  }

 private:
  template <class Follow>
  void pull_back(Node& step, const Tensor& gradient, Follow follow) {
    if (step.is_released()) {
      throw AutogradError("backward: this tape was used already, and its saved tensors released",
                          {.got = text("at step ", step.name(), " ", step.shape()),
                           .hint = "detach() a state that is carried from step to step; "
                                   "{.retain_graph = true} for two losses on one tape"});
    }
    gradients_.assign(step.inputs().size(), Tensor());
    const std::uint32_t version = gradient.impl().storage->version();
    {
      // A NanTrace looks at each gradient by itself.
      const GradientSums* sums = NanTrace::is_active() ? nullptr : &waiting_;
      const NanTracePause pause;
      step.pull_back(Vjp(step, gradient, sums), gradients_);
    }
    if (gradient.impl().storage->version() != version) {
      throw AutogradError(text(step.name(), " backward: its rule changed a gradient in place"),
                          {.got = text(gradient.shape(), ", which other tensors may share"),
                           .hint = "return another, as in v.grad() * 0.5"});
    }
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      const Ref<Node>& input = step.inputs()[i].node;
      if (!input || !gradients_[i].defined() || !follow(*input)) continue;
      check_gradient(step, i, gradients_[i]);
      if (NanTrace::is_active()) detail::check_finite_gradient(step, i, gradients_[i], gradient);
      waiting_.add(input, std::move(gradients_[i]));
    }
    if (!retain_graph_) step.release_saved();
  }

  bool retain_graph_;
  Waiting waiting_;
  Gradients gradients_;
};

Tensor filled_like(const Tensor& tensor, double value) {
  Tensor result(tensor.shape(), tensor.dtype());
  result.fill_(value);
  return result;
}

/// The gradient to start from: the one given, or 1 for a single number.
Tensor starting_gradient(const char* op, const Tensor& output, const Tensor& given) {
  if (!given.defined()) {
    if (output.numel() == 1) return filled_like(output, 1.0);
    const Node* node = output.impl().node.get();
    throw AutogradError(
        text(op, ": needs a single number, this tensor has ", output.numel()),
        {.got = text(output.shape(), " ", output.dtype(), ", from ", node->name()),
         .hint = "mean().backward() for training; backward({.gradient = g}) for a vector-Jacobian "
                 "product"});
  }
  if (!(given.shape() == output.shape())) {
    throw ShapeError(text(op, ": the gradient does not fit the tensor"),
                     {.got = text("gradient ", given.shape(), ", tensor ", output.shape())});
  }
  if (given.dtype() != output.dtype()) {
    throw DTypeError(
        text(op, ": a ", given.dtype(), " gradient for a ", output.dtype(), " tensor"));
  }
  return given;
}

bool leads_to(const std::unordered_set<const Node*>& needed, const Node& step) {
  return std::any_of(step.inputs().begin(), step.inputs().end(), [&](const Node::Input& input) {
    return input.node && needed.contains(input.node.get());
  });
}

/// The steps on a path from the outputs to one of the inputs; gradients() visits no others.
std::unordered_set<const Node*> steps_between(const std::vector<Tensor>& outputs,
                                              const std::vector<Tensor>& inputs) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> reachable;
  const auto visit = [&](const Node* node) {
    if (node && seen.insert(node).second) reachable.push_back(node);
  };
  for (const Tensor& output : outputs) visit(output.impl().node.get());
  for (std::size_t next = 0; next < reachable.size(); ++next) {
    for (const Node::Input& input : reachable[next]->inputs()) visit(input.node.get());
  }

  std::sort(reachable.begin(), reachable.end(),
            [](const Node* a, const Node* b) { return a->sequence() < b->sequence(); });
  std::unordered_set<const Node*> needed;
  for (const Tensor& input : inputs) needed.insert(input.impl().node.get());
  for (const Node* node : reachable) {
    if (leads_to(needed, *node)) needed.insert(node);
  }
  return needed;
}

}  // namespace

void backward(const Tensor& root, const BackwardOptions& options) {
  if (!root.requires_grad()) {
    throw AutogradError("backward: this tensor is not on a tape",
                        {.got = text(root.shape(), " ", root.dtype(), ", requires no gradient"),
                         .hint = "call requires_grad_() on the inputs, and leave NoGrad scopes"});
  }
  const NoGrad no_grad;
  Pass pass(options.retain_graph);
  pass.start_from(root, starting_gradient("backward", root, options.gradient));
  pass.run(
      [](Node& step, Tensor& gradient) {
        if (step.is_leaf()) {
          step.accumulate_gradient(owned(std::move(gradient)));
        } else if (step.retains_gradient()) {
          step.accumulate_gradient(gradient.clone());
        }
        return true;
      },
      [](const Node&) { return true; });
}

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const GradientsOptions& options) {
  if (!options.grad_outputs.empty() && options.grad_outputs.size() != outputs.size()) {
    throw ValueError(text("gradients: ", options.grad_outputs.size(), " grad_outputs for ",
                          outputs.size(), " outputs"));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].requires_grad()) continue;
    throw AutogradError(text("gradients: input ", i, " requires no gradient"),
                        {.got = text(inputs[i].shape(), " ", inputs[i].dtype()),
                         .hint = "requires_grad_() before it is used"});
  }
  const GradMode mode(options.create_graph);
  const auto needed = steps_between(outputs, inputs);
  Pass pass(options.retain_graph || options.create_graph);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    const Tensor given = options.grad_outputs.empty() ? Tensor() : options.grad_outputs[i];
    Tensor start = starting_gradient("gradients", outputs[i], given);
    if (needed.contains(outputs[i].impl().node.get()))
      pass.start_from(outputs[i], std::move(start));
  }

  std::unordered_map<const Node*, Tensor> found;
  for (const Tensor& input : inputs) found.emplace(input.impl().node.get(), Tensor());
  pass.run(
      [&](Node& step, const Tensor& gradient) {
        const auto place = found.find(&step);
        if (place != found.end()) place->second = gradient;
        return leads_to(needed, step);  // an input's own rule has nothing to add
      },
      [&](const Node& input) { return needed.contains(&input); });

  std::vector<Tensor> results;
  for (auto& entry : found) {
    if (entry.second.defined()) entry.second = owned(std::move(entry.second));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& gradient = found.at(inputs[i].impl().node.get());
    if (!gradient.defined() && !options.allow_unused) {
      throw AutogradError(text("gradients: the outputs do not depend on input ", i),
                          {.got = text(inputs[i].shape(), " ", inputs[i].dtype()),
                           .hint = "{.allow_unused = true} gives zeros for it"});
    }
    results.push_back(gradient.defined() ? unshared(gradient, results)
                                         : filled_like(inputs[i], 0.0));
  }
  return results;
}

}  // namespace gradus
