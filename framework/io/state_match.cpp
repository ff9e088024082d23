#include "framework/io/state_match.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "framework/autograd/no_grad.h"
#include "framework/io/printable_internal.h"

namespace gradus {
namespace {

/// Bit for bit, for tensors of one shape and dtype.
bool are_equal(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().contiguous();
  const Tensor y = b.detach().contiguous();
  return std::memcmp(x.raw(), y.raw(), static_cast<std::size_t>(x.numel() * x.itemsize())) == 0;
}

}  // namespace

StateMatch::StateMatch(const StateList& targets, const StateDict& state, const LoadOptions& options)
    : targets_(targets), state_(state), options_(options) {
  StateDict unmatched = renamed_state();
  std::unordered_map<const TensorImpl*, std::size_t> places;  // of tensors with several names
  for (const auto& [name, target] : targets_) {
    const auto [place, is_new] = places.try_emplace(&target.impl(), fillings_.size());
    if (is_new) fillings_.push_back({.name = name, .target = target});
    const auto given = unmatched.find(name);
    if (given == unmatched.end()) continue;
    fill(fillings_[place->second], name, given->second);
    unmatched.erase(given);
  }
  for (const Filling& filling : fillings_) {
    if (filling.source.defined()) continue;
    faults_.push_back({.kind = Kind::missing, .name = filling.name, .wanted = filling.target});
  }
  for (const auto& [name, tensor] : unmatched) {
    faults_.push_back({.kind = Kind::unexpected, .name = name, .given = tensor});
  }
}

StateDict StateMatch::renamed_state() {
  StateDict result;
  std::map<std::string, std::string> origins;
  for (const auto& [name, tensor] : state_) {
    if (!tensor.defined()) continue;
    const std::string new_name = renamed(name, options_);
    const auto [origin, is_new] = origins.try_emplace(new_name, name);
    if (is_new) {
      result.emplace(new_name, tensor);
    } else {
      faults_.push_back({.kind = Kind::clash,
                         .name = new_name,
                         .other = "both " + printable(origin->second) + " and " + printable(name) +
                                  " become it"});
    }
  }
  return result;
}

void StateMatch::fill(Filling& filling, const std::string& name, const Tensor& given) {
  const Tensor& wanted = filling.target;
  const bool fits = given.shape() == wanted.shape() && given.dtype() == wanted.dtype();
  if (!fits) {
    const Kind kind = given.shape() == wanted.shape() ? Kind::dtype : Kind::shape;
    faults_.push_back({.kind = kind, .name = name, .given = given, .wanted = wanted});
  } else if (filling.source.defined() && !are_equal(filling.source, given)) {
    faults_.push_back(
        {.kind = Kind::clash,
         .name = name,
         .other = "other numbers than " + printable(filling.name) + ", the same parameter"});
  }
  if (!filling.source.defined()) filling.source = given;
}

bool StateMatch::has(Kind kind) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [kind](const Fault& fault) { return fault.kind == kind; });
}

StateList StateMatch::all(Kind kind) const {
  StateList found;
  for (const Fault& fault : faults_) {
    if (fault.kind != kind) continue;
    found.emplace_back(fault.name, kind == Kind::missing ? fault.wanted : fault.given);
  }
  return found;
}

void StateMatch::copy() const {
  const NoGrad no_grad;
  for (const Filling& filling : fillings_) Tensor(filling.target).copy_(filling.source);
}

}  // namespace gradus
