// Nearest: which known word a mistyped one was meant to be.
#pragma once

#include <string>
#include <vector>

namespace examples {

/// The known word that is nearest to `name`; empty where more than about half of it would have to
/// change.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

/// "; did you mean PREFIXWORD?", or nothing where no known word is near.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known,
                         const std::string& prefix = "");

}  // namespace examples
