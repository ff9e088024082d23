#include "examples/gradus/settings/setting_sources.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "examples/gradus/settings/flat_toml.h"
#include "examples/gradus/settings/setting_table.h"
#include "examples/support/exit_code.h"
#include "examples/support/nearest.h"
#include "examples/support/text_layout.h"
#include "framework/io/file.h"

namespace examples {
namespace {

GivenSettings settings_in_toml(const std::string& toml, const std::string& file) {
  GivenSettings given;
  for (const auto& [name, value] : parse_flat_toml(toml, file)) {
    std::string spelled = name;
    std::replace(spelled.begin(), spelled.end(), '_', '-');
    if (!find_setting(spelled)) {
      throw Failure(kUsage,
                    file + ": unknown setting " + name + did_you_mean(spelled, setting_names()));
    }
    given[spelled] = {value, file};
  }
  return given;
}

std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (const Setting& setting : setting_table()) names.push_back(setting.environment_name());
  return names;
}

}  // namespace

GivenSettings settings_in_file(const std::filesystem::path& path) {
  return settings_in_toml(gradus::read_file(path), path.string());
}

GivenSettings settings_in_environment() {
  constexpr std::string_view kPrefix = "GRADUS_TRAIN_";
  const std::vector<std::string> names = environment_names();
  GivenSettings given;
  for (char** entry = environ; *entry; ++entry) {
    const std::string variable = *entry;
    if (!variable.starts_with(kPrefix)) continue;
    const std::size_t equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      throw Failure(kUsage,
                    "unknown setting in the environment: " + name + did_you_mean(name, names));
    }
    const Setting& setting = setting_table()[static_cast<std::size_t>(known - names.begin())];
    given[setting.name] = {variable.substr(equals + 1), name};
  }
  return given;
}

void add_setting_options(CLI::App& command, GivenSettings& given) {
  for (const Setting& setting : setting_table()) {
    const bool is_task = setting.name == "task";
    const std::string origin = is_task ? "command line" : "--" + setting.name;
    const auto take = [&given, origin, name = setting.name](const std::string& value) {
      given[name] = {value, origin};
    };
    command.add_option_function<std::string>(is_task ? "task" : origin, take, setting.meaning)
        ->type_name(setting.takes)
        ->group(setting.group)
        ->take_last();
  }
}

GivenSettings overridden(GivenSettings weaker, const GivenSettings& stronger) {
  for (const auto& [name, setting] : stronger) weaker[name] = setting;
  return weaker;
}

ResolvedSettings resolve_settings(const GivenSettings& given) {
  const auto task = given.find("task");
  ResolvedSettings resolved;
  resolved.settings = default_settings(task == given.end() ? "" : task->second.value);
  for (const Setting& setting : setting_table()) {
    resolved.origins[setting.name] = "default";
    const auto found = given.find(setting.name);
    if (found == given.end()) continue;
    const auto& [value, origin] = found->second;
    const std::string name =
        origin.find(setting.name) == std::string::npos && origin != setting.environment_name()
            ? origin + ": " + setting.name
            : origin;
    const bool applies = setting.applies_to(resolved.settings);
    if (!applies && origin == setting.environment_name()) continue;  // it is there for all runs
    if (!applies) {
      throw Failure(kUsage, name + " has no meaning for the task " + resolved.settings.task);
    }
    const std::string fault = setting.read(resolved.settings, value);
    if (!fault.empty()) throw Failure(kUsage, name + " " + fault);
    resolved.origins[setting.name] = origin;
  }
  check_settings(resolved.settings);
  return resolved;
}

std::string settings_as_toml(const RunSettings& settings) {
  std::string toml;
  for (const Setting& setting : setting_table()) {
    if (!setting.makes_the_run || !setting.applies_to(settings)) continue;
    const std::string value = setting.show(settings);
    toml += setting.name + " = " + (setting.is_number ? value : toml_string(value)) + "\n";
  }
  return toml;
}

RunSettings settings_from_toml(const std::string& toml, const std::string& file) {
  try {
    return resolve_settings(settings_in_toml(toml, file)).settings;
  } catch (const Failure& failure) {  // not a fault of the command line
    const std::string what = failure.what();
    throw Failure(kData, what.starts_with(file) ? what : file + ": " + what);
  }
}

std::string settings_table_text(const ResolvedSettings& resolved) {
  constexpr int kNameColumns = 18;
  constexpr int kValueColumns = 14;
  std::string lines;
  for (const Setting& setting : setting_table()) {
    if (!setting.applies_to(resolved.settings)) continue;
    lines += "  " + padded(setting.name, kNameColumns) +
             padded(setting.show(resolved.settings), kValueColumns) + "  " +
             resolved.origins.at(setting.name) + "\n";
  }
  return lines;
}

}  // namespace examples
