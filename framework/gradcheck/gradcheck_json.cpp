// The report as JSON, by hand: any bytes in a name give valid UTF-8, and any double a valid value.
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "framework/gradcheck/gradcheck.h"

namespace gradus {
namespace {

/// How many bytes the UTF-8 sequence at the start takes; 0 where there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 0 || first > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return too_long || no_character ? 0 : length;
}

std::string json(std::string_view bytes) {
  constexpr const char* kHex = "0123456789abcdef";
  std::string result = "\"";
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    const char c = bytes.front();
    if (length == 0) {
      result += "\xEF\xBF\xBD";  // the replacement character
    } else if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += {'\\', 'u', '0', '0', kHex[c / 16], kHex[c % 16]};
    } else {
      result += bytes.substr(0, length);
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return result + "\"";
}
std::string json(const std::string& value) { return json(std::string_view(value)); }
std::string json(const char* value) { return json(std::string_view(value)); }
std::string json(bool value) { return value ? "true" : "false"; }
std::string json(int value) { return std::to_string(value); }
std::string json(Index value) { return std::to_string(value); }
std::string json(std::uint64_t value) { return std::to_string(value); }

std::string json(const GradcheckInput& row);

/// The shortest digits that read back as the same number, whatever the locale.
std::string json(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0.0 ? "\"inf\"" : "\"-inf\"";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

template <class List>
std::string json_list(const List& values) {
  std::string result;
  for (const auto& value : values) result += (result.empty() ? "" : ",") + json(value);
  return "[" + result + "]";
}

class Object {
 public:
  template <class Value>
  Object& add(const char* name, const Value& value) {
    return add_raw(name, json(value));
  }
  Object& add_raw(const char* name, const std::string& value) {
    members_ += (members_.empty() ? "" : ",") + json(name) + ":" + value;
    return *this;
  }
  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

std::string json(const Diagnosis& diagnosis) {
  return Object()
      .add("fault", fault_name(diagnosis.fault))
      .add("ratio", diagnosis.ratio)
      .add("holds", diagnosis.holds)
      .add("of", diagnosis.of)
      .add("pattern", diagnosis.pattern)
      .add("cause", diagnosis.cause)
      .text();
}

std::string json(const GradcheckInput& row) {
  const char* method = row.directions > 0 ? "directions" : "elementwise";
  Object worst;
  worst.add_raw("index", row.worst_direction >= 0 ? "null" : json_list(row.worst))
      .add_raw("direction", row.worst_direction >= 0 ? json(row.worst_direction) : "null")
      .add("analytic", row.worst_analytic)
      .add("numeric", row.worst_numeric)
      .add("uncertainty", row.worst_uncertainty);
  return Object()
      .add("name", row.name)
      .add_raw("shape", json_list(row.shape))
      .add("number", static_cast<std::uint64_t>(row.number))
      .add("order", row.order)
      .add("passed", row.passed)
      .add("method", row.analytic.defined() ? method : "none")
      .add("directions", row.directions)
      .add("checked", row.checked)
      .add("wrong", row.wrong)
      .add("kinks", row.kinks)
      .add("max_abs_error", row.max_abs_error)
      .add("max_rel_error", row.max_rel_error)
      .add("scale", row.scale)
      .add("rounding", row.rounding)
      .add("limit", row.limit)
      .add_raw("worst", worst.text())
      .add("note", row.note)
      .add_raw("diagnosis", row.diagnosis.fault == Fault::none ? "null" : json(row.diagnosis))
      .text();
}

}  // namespace

std::string to_json(const GradcheckReport& report) {
  return Object()
      .add("passed", report.passed())
      .add("dtype", "float64")
      .add("seed", report.seed)
      .add("step", report.step)
      .add("rtol", report.rtol)
      .add("atol", report.atol)
      .add("max_elements", report.max_elements)
      .add("evaluations", report.evaluations)
      .add("bit_identical", report.bit_identical)
      .add_raw("failures", json_list(report.failures))
      .add_raw("remarks", json_list(report.remarks))
      .add("advice", report.advice)
      .add("suspects", report.suspects)
      .add_raw("inputs", json_list(report.inputs))
      .text();
}

}  // namespace gradus
