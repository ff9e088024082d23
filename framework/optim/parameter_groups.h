// Parameter groups: parameters of one optimiser that are stepped differently.
//
//     AdamW adam(decay_groups(model.parameters()), {.lr = 3e-4, .weight_decay = 0.1});
//     AdamW adam({{.parameters = body}, {.parameters = head, .lr_factor = 10}}, {.lr = 1e-4});
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

struct ParameterGroup {
  std::vector<Tensor> parameters;
  /// Times the optimiser's rate, whatever that is set to.
  double lr_factor = 1.0;
  /// In place of the optimiser's.
  std::optional<double> weight_decay{};
};

/// What an optimiser is given: parameters, which are one group, or groups.
class ParameterGroups {
 public:
  ParameterGroups() = default;
  // NOLINTBEGIN(google-explicit-constructor): an optimiser takes either without ceremony
  ParameterGroups(std::vector<Tensor> parameters)
      : groups_{{.parameters = std::move(parameters)}} {}
  ParameterGroups(std::initializer_list<Tensor> parameters)
      : ParameterGroups(std::vector<Tensor>(parameters)) {}
  ParameterGroups(std::vector<ParameterGroup> groups) : groups_(std::move(groups)) {}
  ParameterGroups(std::initializer_list<ParameterGroup> groups) : groups_(groups) {}
  // NOLINTEND(google-explicit-constructor)

  std::vector<ParameterGroup>::const_iterator begin() const { return groups_.begin(); }
  std::vector<ParameterGroup>::const_iterator end() const { return groups_.end(); }

 private:
  std::vector<ParameterGroup> groups_;
};

/// Two groups: what has two axes and more (the matrices of linear layers, tables of embeddings)
/// decays as the optimiser says, what has fewer (biases, gains and shifts of norms) does not. It is
/// how GPT-2 and its kin are trained; with embeddings of their own a program makes its own groups.
ParameterGroups decay_groups(const std::vector<Tensor>& parameters);

/// Throws ValueError unless every one of the parameters is in a group: a group made by name misses
/// what was renamed since.
void check_all_grouped(const ParameterGroups& groups, const std::vector<Tensor>& parameters);

}  // namespace gradus
