#include "examples/gradus/gradcheck/junit.h"

#include <sstream>

#include "examples/support/format.h"
#include "examples/support/markup.h"
#include "framework/core/error.h"

namespace examples {
namespace {

using gradus::GradcheckInput;
using gradus::text;

/// With what is wrong as its message and, for the first one, the whole report as its text.
std::string test_case(const std::string& subject, const std::string& name, const std::string& fault,
                      const std::string& report) {
  const std::string start = text("    <testcase classname=\"gradcheck.", escaped(subject),
                                 "\" name=\"", escaped(name), "\"");
  if (fault.empty()) return start + "/>\n";
  return text(start, ">\n      <failure message=\"", escaped(fault), "\">", escaped(report),
              "</failure>\n    </testcase>\n");
}

std::string fault_of(const GradcheckInput& input) {
  if (input.passed) return {};
  const std::string cause = input.diagnosis.cause;
  return text("largest error ", format("%.1e", input.max_abs_error), ", limit ",
              format("%.1e", input.limit), cause.empty() ? "" : "; likely cause: ", cause);
}

std::string suite(const NamedReport& named) {
  std::ostringstream whole;
  whole << named.report;
  std::string cases;
  std::size_t count = 0;
  std::size_t failures = 0;
  const auto add = [&](const std::string& name, const std::string& fault) {
    cases += test_case(named.subject, name, fault, failures == 0 ? whole.str() : "");
    ++count;
    if (!fault.empty()) ++failures;
  };
  for (const GradcheckInput& input : named.report.inputs) {
    add(input.name + (input.order == 2 ? ", second order" : ""), fault_of(input));
  }
  for (const std::string& failure : named.report.failures) add("the check as a whole", failure);
  return text("  <testsuite name=\"gradcheck.", escaped(named.subject), "\" tests=\"", count,
              "\" failures=\"", failures, "\" time=\"", format("%.3f", named.seconds), "\">\n",
              cases, "  </testsuite>\n");
}

}  // namespace

std::string junit(const std::vector<NamedReport>& reports) {
  std::string suites;
  for (const NamedReport& named : reports) suites += suite(named);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + suites + "</testsuites>\n";
}

}  // namespace examples
