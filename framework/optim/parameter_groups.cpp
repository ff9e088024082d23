#include "framework/optim/parameter_groups.h"

#include <algorithm>
#include <functional>

#include "framework/core/error.h"
#include "framework/ops/checks.h"

namespace gradus {

ParameterGroups decay_groups(const std::vector<Tensor>& parameters) {
  ParameterGroup decay;
  ParameterGroup no_decay{.parameters = {}, .weight_decay = 0.0};
  for (const Tensor& parameter : parameters) {
    (parameter.dim() >= 2 ? decay : no_decay).parameters.push_back(parameter);
  }
  return {decay, no_decay};
}

void check_all_grouped(const ParameterGroups& groups, const std::vector<Tensor>& parameters) {
  const auto is_grouped = [&groups](const Tensor& parameter) {
    return std::any_of(groups.begin(), groups.end(), [&parameter](const ParameterGroup& group) {
      return std::any_of(group.parameters.begin(), group.parameters.end(),
                         [&parameter](const Tensor& own) { return own.is_same(parameter); });
    });
  };
  const auto left = std::count_if(parameters.begin(), parameters.end(), std::not_fn(is_grouped));
  if (left == 0) return;
  const auto first = std::find_if_not(parameters.begin(), parameters.end(), is_grouped);
  throw ValueError(
      text("check_all_grouped: ", left, " of ", parameters.size(), " parameters are in no group"),
      {.got =
           text("the first is parameter ", first - parameters.begin(), ", ", described(*first))});
}

}  // namespace gradus
