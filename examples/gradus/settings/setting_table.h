// Setting table: every setting by its name, with what it takes. The name is the same everywhere:
// weight-decay is --weight-decay, weight-decay in a configuration file, and
// GRADUS_TRAIN_WEIGHT_DECAY in the environment.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/gradus/settings/settings.h"

namespace examples {

/// Which tasks a setting has a meaning for.
enum class SettingScope { all, made_up, text };

struct Setting {
  std::string name;
  std::string group{};  ///< its heading in the help
  std::string takes;    ///< "N", "PATH", ...
  std::string meaning;  ///< with its range
  SettingScope scope = SettingScope::all;
  bool is_number = true;
  /// Whether another value makes another run, which cannot be changed when it is resumed.
  bool makes_the_run = true;
  /// Puts in the value. What is wrong with it, if anything is, to follow its name.
  std::function<std::string(RunSettings&, const std::string&)> read;
  std::function<std::string(const RunSettings&)> show;

  /// "GRADUS_TRAIN_WEIGHT_DECAY"
  std::string environment_name() const;
  bool applies_to(const RunSettings& settings) const;
};

/// In the order of the help.
const std::vector<Setting>& setting_table();
/// Null where there is none of that name.
const Setting* find_setting(const std::string& name);
std::vector<std::string> setting_names();

}  // namespace examples
