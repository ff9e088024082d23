// Command line: CLI11, with errors that name the cure.
#pragma once

#include <charconv>
#include <CLI/CLI.hpp>
#include <string>

#include "framework/core/error.h"

namespace examples {

/// Takes the arguments, or throws Failure that says what is wrong with them. False when --help or
/// --version was asked for, and printed.
bool parse_command_line(CLI::App& app, int argc, char** argv);

/// An option that takes a number from `low` to `high`, and leaves `value` as it is when not given.
/// The help shows all three.
template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& value, Number low, Number high,
                const std::string& meaning) {
  const auto check = [=](const std::string& given) {
    Number number{};
    const char* end = given.data() + given.size();
    const std::from_chars_result read = std::from_chars(given.data(), end, number);
    const bool is_number = read.ptr == end && read.ec == std::errc();
    if (is_number && number >= low && number <= high) return std::string();
    return gradus::text("needs a number from ", low, " to ", high, ", not '", given, "'");
  };
  app.add_option(name, value,
                 gradus::text(meaning, " (", low, " to ", high, "; default ", value, ")"))
      ->type_name("N")
      ->take_last()
      ->check(CLI::Validator(check, ""));
}

}  // namespace examples
