// Names that look renamed: which name missing in a state may be which unexpected one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/io/state_dict.h"

namespace gradus {

struct LikelyRename {
  std::string missing;
  std::string unexpected;
};

/// Pairs of one shape and dtype whose names have parts in common, the most alike first served;
/// every name at most once. In the order of `missing`.
std::vector<LikelyRename> likely_renames(const StateList& missing, const StateList& unexpected);

/// The fewest beginnings that turn every unexpected name into its missing one, as LoadOptions has
/// them; empty where there are more than a few.
LoadOptions common_renames(const std::vector<LikelyRename>& pairs);

}  // namespace gradus
