// State: tensors by dotted name, as "layers.0.norm1.weight", and what loading may do with the
// names. Models and optimisers give their state as this, and files hold it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// Tensors by dotted name.
using StateDict = std::map<std::string, Tensor>;
/// The same in an order of its own, where one tensor may have several names.
using StateList = std::vector<std::pair<std::string, Tensor>>;

struct LoadOptions {
  /// Beginnings of the names that are loaded, and what they become: {{"blocks.", "layers."}}. A
  /// beginning is whole parts of a name, with or without the last dot: "layer1" is none of
  /// "layer10.weight". An empty one stands before every name, so {"", "model."} puts all names
  /// under model, and {"model.", ""} takes them out. The first that fits counts.
  std::vector<std::pair<std::string, std::string>> rename{};
};

/// The name that a name is loaded under.
std::string renamed(const std::string& name, const LoadOptions& options);

/// What lies under a module or part of this name: "layer1.weight" as "weight", but nothing of
/// "layer10.weight".
StateDict state_under(const StateDict& state, std::string_view name);
/// All names with "name." before them.
StateDict state_as(std::string_view name, const StateDict& state);

}  // namespace gradus
