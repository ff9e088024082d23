#include "framework/autograd/node.h"

#include <algorithm>
#include <atomic>
#include <mutex>

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

const Tensor& unchanged(const char* step, const char* what, const Node::Saved& saved) {
  const Storage& storage = *saved.value.impl().storage;
  if (storage.version() != saved.version) {
    throw AutogradError(
        text(step, " backward: its saved ", what, " was changed in place"),
        {.got = text(saved.value.shape(), ", saved at version ", saved.version, ", now version ",
                     storage.version(), ", changed by ", storage.changed_by()),
         .hint = "change a clone(), or change it after backward()"});
  }
  return saved.value;
}

}  // namespace

// A step whose last handle goes drops its inputs' handles, whose steps may die in turn: a list of
// the dying, in place of recursion, frees a chain of any length on a small stack.
void retain(Node* node) noexcept { node->add_ref(); }
void release(Node* node) noexcept {
  if (!node->drop_ref()) return;
  thread_local std::vector<Node*>* dying = nullptr;
  if (dying) {
    dying->push_back(node);
    return;
  }
  std::vector<Node*> list{node};
  dying = &list;
  while (!list.empty()) {
    Node* last = list.back();
    list.pop_back();
    delete last;
  }
  dying = nullptr;
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
  const unsigned wanted = static_cast<unsigned>(saves);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorImpl& input = inputs[i].impl();
    places[i].node = input.node;
    if (wanted & (2U << std::min<std::size_t>(i, 30))) {
      places[i].saved = {inputs[i], input.storage->version()};
    }
  }
  // The output is kept without its place on the tape, which is this step: no cycle.
  if (wanted & 1U) output_ = {output.detach(), output.impl().storage->version()};
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
  gradient_ = gradient_.defined() ? gradient_ + gradient : std::move(gradient);
}

Tensor Vjp::input(Index i) const {
  const Node::Saved& saved = step_.inputs_[static_cast<std::size_t>(i)].saved;
  if (!saved.value.defined()) {
    throw AutogradError(text(step_.name(), " backward: its rule asks for input ", i,
                             ", which the step did not save"),
                        {.hint = text("record(..., Saves::input", i, ", ...)")});
  }
  return unchanged(step_.name(), "input", saved);
}

Tensor Vjp::output() const {
  const Node::Saved& saved = step_.output_;
  if (!saved.value.defined()) {
    throw AutogradError(
        text(step_.name(), " backward: its rule asks for the output, which the step did not save"),
        {.hint = "record(..., Saves::output, ...)"});
  }
  const Tensor& value = unchanged(step_.name(), "output", saved);
  if (!grad_enabled()) return value;
  Tensor on_tape = value.detach();
  on_tape.impl().node = const_cast<Node*>(&step_);
  return on_tape;
}

namespace detail {

bool must_record(std::span<const Tensor> inputs) {
  return grad_enabled() && std::any_of(inputs.begin(), inputs.end(),
                                       [](const Tensor& input) { return input.requires_grad(); });
}

void attach(const Tensor& output, Ref<Node> step) { output.impl().node = std::move(step); }

}  // namespace detail
}  // namespace gradus
