// Flat TOML: a configuration file of lines `name = value`, where a value is a number, true, false,
// or a string in quotes, and # starts a comment. That is TOML without tables, lists and dates.
#pragma once

#include <map>
#include <string>

namespace examples {

/// Values by name, as text. Throws Failure (kData) that names `file`, the line and what is wrong
/// with it.
std::map<std::string, std::string> parse_flat_toml(const std::string& contents,
                                                   const std::string& file);

/// A string in quotes.
std::string toml_string(const std::string& text);

}  // namespace examples
