// Command line: CLI11, with errors that name the cure.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "examples/support/number.h"
#include "framework/core/error.h"

namespace examples {

/// Takes the arguments, or throws Failure that says what is wrong with them, and for an unknown
/// command or option which one is near. False when --help or --version was asked for, and printed.
bool parse_command_line(CLI::App& app, int argc, char** argv);

/// An option that takes a number from `low` to `high`, and leaves `value` as it is when not given.
/// The help shows all three.
template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& value, Number low, Number high,
                const std::string& meaning) {
  const auto check = [=](const std::string& given) {
    return read_number(given, low, high) ? std::string() : needs_number(given, low, high);
  };
  app.add_option(name, value,
                 gradus::text(meaning, " (", low, " to ", high, "; default ", value, ")"))
      ->type_name("N")
      ->take_last()
      ->check(CLI::Validator(check, ""));
}

}  // namespace examples
