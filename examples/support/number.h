// Numbers that people type: read whole and within bounds, or refused in words.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "framework/core/error.h"

namespace examples {

/// The number that `given` is; nothing where it is none, has something behind it, or lies outside
/// `low` to `high`.
template <class Number>
std::optional<Number> read_number(const std::string& given, Number low, Number high) {
  Number number{};
  const char* end = given.data() + given.size();
  const std::from_chars_result read = std::from_chars(given.data(), end, number);
  const bool is_number = read.ptr == end && read.ec == std::errc();
  if (!is_number || !(number >= low && number <= high)) return std::nullopt;
  return number;
}

/// Why it was refused, to follow the name of what it was given for.
template <class Number>
std::string needs_number(const std::string& given, Number low, Number high) {
  return gradus::text("needs a number from ", low, " to ", high, ", not '", given, "'");
}

}  // namespace examples
