#include "framework/io/state_dict.h"

#include <optional>

namespace gradus {
namespace {

std::string_view without_last_dot(std::string_view beginning) {
  if (beginning.ends_with('.')) beginning.remove_suffix(1);
  return beginning;
}

/// What follows the beginning in a name, without a dot before it.
std::optional<std::string_view> after(std::string_view beginning, std::string_view name) {
  if (beginning.empty() || name == beginning) return name.substr(beginning.size());
  if (!name.starts_with(beginning) || name[beginning.size()] != '.') return std::nullopt;
  return name.substr(beginning.size() + 1);
}

std::string joined(std::string_view beginning, std::string_view rest) {
  std::string name(beginning);
  if (!beginning.empty() && !rest.empty()) name += '.';
  return name.append(rest);
}

}  // namespace

std::string renamed(const std::string& name, const LoadOptions& options) {
  for (const auto& [from, to] : options.rename) {
    const auto rest = after(without_last_dot(from), name);
    if (rest) return joined(without_last_dot(to), *rest);
  }
  return name;
}

StateDict state_under(const StateDict& state, std::string_view name) {
  StateDict below;
  for (const auto& [full_name, tensor] : state) {
    const auto rest = after(name, full_name);
    if (rest && !rest->empty()) below.emplace(*rest, tensor);
  }
  return below;
}

StateDict state_as(std::string_view name, const StateDict& state) {
  StateDict result;
  for (const auto& [rest, tensor] : state) result.emplace(joined(name, rest), tensor);
  return result;
}

}  // namespace gradus
