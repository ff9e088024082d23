#include <algorithm>

#include "framework/io/state_renames_internal.h"

namespace gradus {
namespace {

constexpr std::size_t kMostRenames = 4;
constexpr std::size_t kMostPairs = 1'000'000;  // to be looked at

using Parts = std::vector<std::string_view>;

Parts parts_of(std::string_view name) {
  Parts parts;
  for (;;) {
    const std::size_t dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

std::size_t common_ending(const Parts& a, const Parts& b) {
  const auto [end, other] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(end - a.rbegin());
}

std::size_t common_beginning(const Parts& a, const Parts& b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

struct Candidate {
  std::size_t likeness;
  std::size_t missing;
  std::size_t unexpected;
};

bool are_alike(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype();
}

std::vector<Candidate> candidates(const StateList& missing, const StateList& unexpected) {
  std::vector<Candidate> all;
  std::vector<Parts> parts;
  for (const auto& [name, tensor] : unexpected) parts.push_back(parts_of(name));
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const Parts own = parts_of(missing[i].first);
    for (std::size_t j = 0; j < unexpected.size(); ++j) {
      if (!are_alike(missing[i].second, unexpected[j].second)) continue;
      const std::size_t likeness =
          2 * common_ending(own, parts[j]) + common_beginning(own, parts[j]);
      if (likeness > 0) all.push_back({likeness, i, j});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.likeness > b.likeness; });
  return all;
}

/// The beginnings that differ, as "blocks." and "layers."; whole names where their ends differ.
std::pair<std::string, std::string> beginnings(const LikelyRename& pair) {
  const Parts from = parts_of(pair.unexpected);
  const Parts to = parts_of(pair.missing);
  const std::size_t ending = common_ending(from, to);
  const auto beginning = [ending](const std::string& name, const Parts& parts) {
    std::size_t length = 0;
    for (std::size_t i = 0; i + ending < parts.size(); ++i) length += parts[i].size() + 1;
    return name.substr(0, length);  // the dot included, where one follows
  };
  return {beginning(pair.unexpected, from), beginning(pair.missing, to)};
}

}  // namespace

std::vector<LikelyRename> likely_renames(const StateList& missing, const StateList& unexpected) {
  if (missing.size() * unexpected.size() > kMostPairs) return {};
  std::vector<std::size_t> partner(missing.size(), unexpected.size());
  std::vector<bool> taken(unexpected.size());
  for (const Candidate& candidate : candidates(missing, unexpected)) {
    if (partner[candidate.missing] < unexpected.size() || taken[candidate.unexpected]) continue;
    partner[candidate.missing] = candidate.unexpected;
    taken[candidate.unexpected] = true;
  }
  std::vector<LikelyRename> pairs;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (partner[i] == unexpected.size()) continue;
    pairs.push_back({missing[i].first, unexpected[partner[i]].first});
  }
  return pairs;
}

LoadOptions common_renames(const std::vector<LikelyRename>& pairs) {
  LoadOptions options;
  for (const LikelyRename& pair : pairs) {
    const auto rename = beginnings(pair);
    const auto known = std::find(options.rename.begin(), options.rename.end(), rename);
    if (known != options.rename.end()) continue;
    if (options.rename.size() == kMostRenames) return {};
    options.rename.push_back(rename);
  }
  return options;
}

}  // namespace gradus
