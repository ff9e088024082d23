#include "framework/autograd/node.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string_view>
#include <utility>

#include "framework/autograd/gradient_sum_internal.h"
#include "framework/autograd/trace.h"
#include "framework/core/error.h"

namespace gradus {
namespace {

std::atomic<std::uint64_t> next_sequence{1};

// Guards every stored gradient. One lock for all is enough: it is held for the hand-over only, and
// for the sum when two passes meet in one leaf.
std::mutex& gradient_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

/// What is wrong with a number, mildest first.
enum class NotFinite { none, infinite, nan };

struct Finding {
  NotFinite kind = NotFinite::none;
  Index position = 0;  // row-major
};

/// The first of the worst numbers in a tensor.
Finding worst_of(const Tensor& tensor) {
  Finding worst;
  if (!tensor.defined() || !is_floating(tensor.dtype())) return worst;
  const std::vector<double> numbers = tensor.to_vector<double>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const NotFinite kind = std::isnan(numbers[i])   ? NotFinite::nan
                           : std::isinf(numbers[i]) ? NotFinite::infinite
                                                    : NotFinite::none;
    if (kind > worst.kind) worst = {kind, static_cast<Index>(i)};
  }
  return worst;
}

/// Throws where `result` is worse than what it was computed from.
void report_not_finite(const std::string& what, const Tensor& result, NotFinite before,
                       const char* path, const std::string& from) {
  const Finding found = worst_of(result);
  if (found.kind <= before) return;
  throw AutogradError(text(what, " turned ", found.kind == NotFinite::nan ? "NaN" : "infinite",
                           " at ", unravel_index(found.position, result.shape())),
                      {.got = text(result.shape(), " ", result.dtype(), " from ", from,
                                   before == NotFinite::none ? ", all finite" : ", some infinite",
                                   *path ? text("; in module ", path) : "")});
}

bool is_unchanged(const Node::Saved& saved) {
  return saved.value.impl().storage->version() == saved.version;
}

[[noreturn]] void throw_changed(const char* step, const std::string& what,
                                const Node::Saved& saved) {
  const Storage& storage = *saved.value.impl().storage;
  throw AutogradError(
      text(step, " backward: its saved ", what, " was changed in place"),
      {.got = text(saved.value.shape(), ", saved at version ", saved.version, ", now version ",
                   storage.version(), ", changed by ", storage.changed_by()),
       .hint = "change a clone(), or change it after backward()"});
}

}  // namespace

// A step whose last handle goes drops its inputs' handles, whose steps may die in turn: a list of
// the dying, in place of recursion, frees a chain of any length on a small stack.
void retain(Node* node) noexcept { node->add_ref(); }
void release(Node* node) noexcept {
  if (!node->drop_ref()) return;
  constinit thread_local Node* dying = nullptr;
  constinit thread_local bool at_work = false;
  node->next_dying_ = std::exchange(dying, node);
  if (at_work) return;
  at_work = true;
  while (dying) {
    Node* last = std::exchange(dying, dying->next_dying_);
    delete last;
  }
  at_work = false;
}

const char* step_name(const Node* node) noexcept {
  return node->is_leaf() ? nullptr : node->name();
}

Node::Node(const char* name, const Tensor& output, bool is_leaf)
    : name_(name),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)),
      shape_(output.shape()),
      dtype_(output.dtype()),
      is_leaf_(is_leaf) {}

void Node::connect(const Tensor& output, std::span<const Tensor> inputs, std::span<Input> places,
                   Saves saves) {
  inputs_ = places;
  const unsigned wanted = static_cast<unsigned>(saves);  // bit 0: the output; bit i + 1: input i
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool kept = wanted & (2U << std::min<std::size_t>(i, 30));
    places[i].saved.kept = kept;
    if (!inputs[i].defined()) continue;
    const TensorImpl& input = inputs[i].impl();
    places[i].node = input.node;
    if (!kept) continue;
    places[i].saved.value = inputs[i];
    places[i].saved.version = input.storage->version();
  }
  // The output is kept without its place on the tape, which is this step: no cycle.
  if (wanted & 1U) output_ = {output.detach(), output.impl().storage->version(), true};
  if (TapeTrace::is_active()) {
    path_ = current_path();
    value_ = output.detach();
  }
}

void Node::release_saved() {
  for (Input& input : inputs_) input.saved = {};
  output_ = {};
  release_rule();
  released_ = true;
}

Tensor Node::gradient() const {
  const std::scoped_lock lock(gradient_mutex());
  return gradient_;
}

void Node::set_gradient(const Tensor& gradient) {
  const std::scoped_lock lock(gradient_mutex());
  gradient_ = gradient;
}

void Node::accumulate_gradient(Tensor gradient) {
  const std::scoped_lock lock(gradient_mutex());
  const NoGrad no_grad;
  gradient_ = gradient_.defined() ? sum_of(gradient_, gradient) : std::move(gradient);
}

void Node::add_hook(std::shared_ptr<const HookHandle::Hook> hook) {
  std::erase_if(hooks_, [](const auto& known) { return known->removed.load(); });
  hooks_.push_back(std::move(hook));
}

Tensor Node::through_hooks(Tensor gradient) const {
  const auto hooks = hooks_;  // one may add others: those see the next gradient
  for (const auto& hook : hooks) {
    if (hook->removed) continue;
    const std::uint32_t version = gradient.impl().storage->version();
    const Tensor replacement = hook->function(gradient);
    if (gradient.impl().storage->version() != version) {
      throw AutogradError(text("hook on ", name_, ": changed a gradient in place"),
                          {.got = text(gradient.shape(), ", which other tensors may share"),
                           .hint = "return another, as in gradient * 0.5"});
    }
    if (!replacement.defined()) continue;
    if (!(replacement.shape() == shape_) || replacement.dtype() != dtype_) {
      throw AutogradError(text("hook on ", name_, ": returned a gradient that does not fit"),
                          {.got = text(replacement.shape(), " ", replacement.dtype()),
                           .need = text(shape_, " ", dtype_)});
    }
    gradient = replacement;
  }
  return gradient;
}

void Vjp::throw_no_input(Index i) const {
  throw AutogradError(
      text(step_.name(), " backward: its rule asks for input ", i, " of ", step_.inputs().size()));
}

Tensor Vjp::input(Index i) const {
  const Node::Saved& saved = input_at(i).saved;
  if (!saved.kept) {
    throw AutogradError(text(step_.name(), " backward: its rule asks for input ", i,
                             ", which the step did not save"),
                        {.hint = "name it in the Saves that record() is given"});
  }
  if (!saved.value.defined()) return {};
  if (!is_unchanged(saved)) throw_changed(step_.name(), text("input ", i), saved);
  return saved.value;
}

Tensor Vjp::output() const {
  const Node::Saved& saved = step_.output_;
  if (!saved.kept) {
    throw AutogradError(
        text(step_.name(), " backward: its rule asks for the output, which the step did not save"),
        {.hint = "name it in the Saves that record() is given"});
  }
  if (!is_unchanged(saved)) throw_changed(step_.name(), "output", saved);
  if (!grad_enabled()) return saved.value;
  Tensor on_tape = saved.value.detach();
  on_tape.impl().node = const_cast<Node*>(&step_);
  return on_tape;
}

Tensor Vjp::sum_so_far(Index i) const {
  const Ref<Node>& node = input_at(i).node;
  return sums_ && node && !grad_enabled() ? sums_->so_far(*node) : Tensor();
}

namespace detail {

void check_count(const char* name, std::size_t gradients, std::size_t inputs) {
  if (gradients == inputs) return;
  throw AutogradError(text(name, " backward: its rule returned ", gradients, " gradients for ",
                           inputs, inputs == 1 ? " input" : " inputs"));
}

void check_finite(const char* name, const Tensor& output, std::span<const Tensor> inputs) {
  if (std::string_view(name) == "masked_fill") return;
  std::string operands;
  NotFinite before = NotFinite::none;
  for (const Tensor& input : inputs) {
    before = std::max(before, worst_of(input).kind);
    if (input.defined()) operands += text(operands.empty() ? "" : ", ", input.shape());
  }
  report_not_finite(text(name, ": its result"), output, before, current_path(),
                    text("inputs ", operands));
}

void attach(const Tensor& output, Ref<Node> step) {
  if (output.requires_grad()) {
    throw AutogradError(
        text(step->name(), ": its output is on the tape already"),
        {.got = text(output.shape(), " ", output.dtype(), ", from ", output.impl().node->name()),
         .hint = "compute it off the tape: from detach(), or under NoGrad"});
  }
  output.impl().node = std::move(step);
}

void check_finite_gradient(const Node& step, std::size_t i, const Tensor& gradient,
                           const Tensor& arrived) {
  report_not_finite(text(step.name(), " backward: the gradient of its input ", i), gradient,
                    worst_of(arrived).kind, step.path(), text("a gradient ", arrived.shape()));
}

}  // namespace detail
}  // namespace gradus
