#include "framework/optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "framework/core/error.h"
#include "framework/core/memory.h"
#include "framework/io/state_match.h"
#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/launch.h"

namespace gradus {
namespace {

std::string numbered(std::size_t i, const std::string& name) { return text(i, ".", name); }

/// Counts of steps as int64: PyTorch has them in float32.
StateDict with_whole_counts(const StateDict& state) {
  StateDict result = state;
  for (auto& [name, tensor] : result) {
    if (!name.ends_with(".step") || !tensor.defined() || tensor.numel() != 1) continue;
    const double count = tensor.item();
    if (count < 0) throw ValueError(text("load_state_dict: the count ", name, " is ", count));
    const bool is_whole = std::trunc(count) == count && count < 0x1p53;
    if (is_whole && is_floating(tensor.dtype())) tensor = tensor.detach().to(int64);
  }
  return result;
}

}  // namespace

Optimizer::Optimizer(const ParameterGroups& groups, double lr) {
  for (const ParameterGroup& group : groups) add_group(group);
  if (parameters_.empty()) throw ValueError("optimizer: no parameters to step");
  set_lr(lr);
}

void Optimizer::add_group(const ParameterGroup& group) {
  const std::size_t number = groups_.size();
  if (!(group.lr_factor >= 0 && group.weight_decay.value_or(0) >= 0)) {
    throw ValueError(text("optimizer: group ", number, " has a number below 0"),
                     {.got = text("lr_factor ", group.lr_factor, ", weight_decay ",
                                  group.weight_decay.value_or(0))});
  }
  groups_.push_back({group.lr_factor, group.weight_decay});
  for (const Tensor& parameter : group.parameters) {
    if (!parameter.requires_grad() || !parameter.is_leaf()) {
      throw AutogradError("optimizer: a parameter must be a leaf that requires a gradient",
                          {.got = described(parameter)});
    }
    const auto seen = std::find_if(parameters_.begin(), parameters_.end(),
                                   [&](const Tensor& known) { return known.is_same(parameter); });
    if (seen == parameters_.end()) {
      parameters_.push_back(parameter);
      group_numbers_.push_back(number);
      continue;
    }
    const auto i = static_cast<std::size_t>(seen - parameters_.begin());
    if (group_numbers_[i] != number) {
      throw ValueError(
          text("optimizer: a parameter is in two groups, ", group_numbers_[i], " and ", number),
          {.got = text("parameter ", i, ", ", described(parameter))});
    }
  }
}

void Optimizer::set_lr(double lr) {
  if (!(lr >= 0)) throw ValueError(text("optimizer: needs an lr of at least 0, not ", lr));
  lr_ = lr;
}

void Optimizer::step() {
  std::vector<Update, BlockAllocator<Update>> updates;
  updates.reserve(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    if (!gradient.defined()) continue;
    updates.push_back({i, launch::packed(parameters_[i]), launch::packed(gradient)});
  }
  step_all(updates);
  for (const Update& update : updates) {
    const Tensor& parameter = parameters_[update.i];
    if (!update.parameter.is_same(parameter)) launch::copy_into(parameter, update.parameter);
    parameter.mark_changed("optimizer step");
  }
}

void Optimizer::zero_grad() const {
  for (const Tensor& parameter : parameters_) {
    if (parameter.requires_grad()) parameter.zero_grad();
  }
}

StateDict Optimizer::state_dict() const {
  StateDict state;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    for (const Memory& memory : memory_of(i)) {
      if (memory.tensor.defined()) state.emplace(numbered(i, memory.name), memory.tensor.detach());
    }
  }
  return state;
}

void Optimizer::load_state_dict(const StateDict& given) {
  const StateDict state = with_whole_counts(given);
  StateList targets;
  std::vector<std::vector<Tensor>> loaded(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    for (const Memory& memory : memory_of(i)) {
      const std::string name = numbered(i, memory.name);
      const bool comes_later = memory.begins_late && !state.contains(name);
      const Tensor& like = memory.tensor.defined() ? memory.tensor : parameters_[i];
      loaded[i].push_back(comes_later ? Tensor() : zeros_like(like));
      if (!comes_later) targets.emplace_back(name, loaded[i].back());
    }
  }
  const StateMatch match(targets, state);
  if (!match.is_complete()) {
    throw ValueError("load_state_dict: the state does not match the optimizer" +
                     match.report("state", "optimizer"));
  }
  match.copy();
  for (std::size_t i = 0; i < parameters_.size(); ++i) remember(i, loaded[i]);
}

}  // namespace gradus
