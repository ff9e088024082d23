// Setting sources: where a value may come from, the later ones counting more: the defaults of the
// task, a configuration file, the environment (GRADUS_TRAIN_...), the command line. A run that is
// resumed has its own configuration in place of the first three.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "examples/gradus/settings/settings.h"

namespace examples {

struct GivenSetting {
  std::string value;
  std::string origin;  ///< "--lr", "my.toml", "GRADUS_TRAIN_LR"
};
/// By name.
using GivenSettings = std::map<std::string, GivenSetting>;

/// Throws Failure for a file that cannot be read, and for a name that is no setting.
GivenSettings settings_in_file(const std::filesystem::path& path);
/// Throws Failure for a variable GRADUS_TRAIN_... that is no setting.
GivenSettings settings_in_environment();
/// The settings as options of a command, the task without a name in front. `given` must outlive the
/// parsing, after which it holds those that were given.
void add_setting_options(CLI::App& command, GivenSettings& given);

struct ResolvedSettings {
  RunSettings settings;
  std::map<std::string, std::string> origins;  ///< by name; "default" for those not given
};

/// Both together; where both have a name, the stronger one's.
GivenSettings overridden(GivenSettings weaker, const GivenSettings& stronger);
/// The defaults of the task and what was given. Throws Failure for what does not fit.
ResolvedSettings resolve_settings(const GivenSettings& given);

/// As lines of a configuration file: what is needed to do the run again.
std::string settings_as_toml(const RunSettings& settings);
/// Reads them back. Throws Failure that names `file`.
RunSettings settings_from_toml(const std::string& toml, const std::string& file);

/// A line for each: name, value, origin.
std::string settings_table_text(const ResolvedSettings& resolved);

}  // namespace examples
