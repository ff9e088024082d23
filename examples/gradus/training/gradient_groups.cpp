#include "examples/gradus/training/gradient_groups.h"

#include <limits>

#include "framework/optim/clip.h"

namespace examples {
namespace {

struct Kind {
  const char* name;
  const char* part;  ///< of the parameter's name
};

/// The first that fits counts; the last fits all.
constexpr Kind kKinds[] = {
    {"W_Q", "q_linear"},     {"W_K", "k_linear"}, {"W_V", "v_linear"}, {"W_O", "out_linear"},
    {"mlp", "feed_forward"}, {"emb", "token"},    {"emb", "position"}, {"rest", ""}};

const char* kind_of(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name.find(kind.part) != std::string::npos) return kind.name;
  }
  return "rest";
}

/// A norm that is not limited to anything is only measured.
double norm_of(const std::vector<gradus::Tensor>& parameters) {
  return gradus::clip_grad_norm_(parameters, std::numeric_limits<double>::infinity());
}

}  // namespace

GroupNorms gradient_groups(const gradus::Module& model) {
  std::vector<std::pair<std::string, std::vector<gradus::Tensor>>> groups;
  for (const Kind& kind : kKinds) {
    if (groups.empty() || groups.back().first != kind.name) groups.emplace_back(kind.name, 0);
  }
  for (const auto& [name, parameter] : model.named_parameters()) {
    for (auto& [kind, parameters] : groups) {
      if (kind == kind_of(name)) parameters.push_back(parameter);
    }
  }
  GroupNorms norms;
  for (const auto& [kind, parameters] : groups) {
    if (!parameters.empty()) norms.emplace_back(kind, norm_of(parameters));
  }
  return norms;
}

std::vector<std::string> without_gradient(const gradus::Module& model) {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : model.named_parameters()) {
    if (!parameter.grad().defined()) names.push_back(name);
  }
  return names;
}

}  // namespace examples
