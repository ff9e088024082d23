#include <algorithm>
#include <map>

#include "framework/core/error.h"
#include "framework/gradcheck/routes_internal.h"

namespace gradus::checking {
namespace {

constexpr std::size_t kMostSuspects = 4;
constexpr std::size_t kMostSizes = 64;

bool includes(const std::set<Rule>& all, const std::set<Rule>& some) {
  return std::ranges::includes(all, some);
}

std::set<Rule> all_of(const Route& route) {
  std::set<Rule> all = route.before;
  all.insert(route.last.begin(), route.last.end());
  return all;
}

/// Whether a fault before `source` must show in `target`, but not the other way round.
bool is_downstream(const Route& target, const Route& source) {
  return !source.before.empty() && includes(target.before, source.before) &&
         !includes(source.before, target.before);
}

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return list;
}

/// Adds sizes of at least 2 that are not there yet.
class Sizes {
 public:
  void add(Index size, const std::string& where) {
    const auto is_known = [size](const NamedSize& known) { return known.size == size; };
    if (size < 2 || list.size() == kMostSizes || std::ranges::any_of(list, is_known)) return;
    list.push_back({size, where});
  }
  void add_axes(const Shape& shape, const std::string& what) {
    for (Index axis = 0; axis < shape.size(); ++axis) {
      add(shape[axis], text("axis ", axis, " of ", what));
    }
  }
  std::vector<NamedSize> list;
};

}  // namespace

Route route_to(const Tensor& leaf, const Tape& tape) {
  Route route;
  const Node* start = leaf.impl().node.get();
  std::set<const Node*> reached;
  for (std::size_t s = 0; s < tape.size(); ++s) {  // inputs come before the steps that take them
    const auto inputs = tape[s].inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Node* from = inputs[i].node.get();
      if (!from || (from != start && !reached.contains(from))) continue;
      (from == start ? route.last : route.before).insert({s, i});
      reached.insert(&tape[s]);
    }
  }
  return route;
}

std::string order_of_repair(const std::vector<Traveller>& travellers) {
  std::vector<const Traveller*> wrong;
  for (const Traveller& traveller : travellers) {
    if (!traveller.passed) wrong.push_back(&traveller);
  }
  for (const Traveller* last : wrong) {
    std::vector<std::string> first;
    for (const Traveller* other : wrong) {
      if (other != last && is_downstream(last->route, other->route)) first.push_back(other->name);
    }
    if (first.empty() || first.size() + 1 < wrong.size()) continue;
    return text(last->name, " is downstream of ",
                first.size() > 3 ? text("the other ", first.size()) : listed(first), ": fix ",
                first.size() > 1 ? "those" : "that", " first");
  }
  return "";
}

std::string suspects(const std::vector<Traveller>& travellers, const Tape& tape) {
  std::set<Rule> cleared;
  for (const Traveller& traveller : travellers) {
    if (traveller.passed) cleared.merge(all_of(traveller.route));
  }
  std::map<std::size_t, std::set<std::size_t>> inputs_of;  // by step: those that are not cleared
  std::map<std::size_t, std::size_t> passed_by;            // by step: how many wrong gradients
  std::size_t wrong = 0;
  for (const Traveller& traveller : travellers) {
    if (traveller.passed) continue;
    ++wrong;
    std::set<std::size_t> steps;
    for (const Rule& rule : all_of(traveller.route)) {
      if (cleared.contains(rule)) continue;
      inputs_of[rule.first].insert(rule.second);
      steps.insert(rule.first);
    }
    for (const std::size_t step : steps) ++passed_by[step];
  }
  std::vector<std::string> names;
  for (const auto& [step, count] : passed_by) {
    if (count < wrong) continue;
    const std::set<std::size_t>& inputs = inputs_of[step];
    const bool one_of_several = tape[step].inputs().size() > 1 && inputs.size() == 1;
    names.push_back(
        text(tape[step].name(), one_of_several ? text(" (its input ", *inputs.begin(), ")") : ""));
  }
  return names.size() > kMostSuspects ? "" : listed(names);
}

std::vector<NamedSize> sizes_around(const std::vector<Tensor>& inputs,
                                    const std::vector<std::string>& names,
                                    const std::vector<Tensor>& outputs, const Tape& tape) {
  Sizes sizes;
  const auto output = [&](std::size_t k) {
    return outputs.size() > 1 ? text("output ", k) : std::string("the output");
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) sizes.add_axes(inputs[i].shape(), names[i]);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) sizes.add_axes(outputs[k].shape(), output(k));
  for (const Ref<Node>& step : tape) {
    sizes.add_axes(step->shape(), text("step ", step->name(), " ", step->shape()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) sizes.add(inputs[i].numel(), "elements of " + names[i]);
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    sizes.add(outputs[k].numel(), "elements of " + output(k));
  }
  return sizes.list;
}

std::vector<NamedValue> values_of_shape(const Shape& shape, const Tape& tape) {
  std::vector<NamedValue> values;
  for (const Ref<Node>& step : tape) {
    if (!step->value().defined() || !(step->value().shape() == shape)) continue;
    values.push_back({step->name(), step->value()});
  }
  return values;
}

}  // namespace gradus::checking
