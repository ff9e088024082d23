// JUnit: reports of gradient checks in the form that CI systems show.
#pragma once

#include <string>
#include <vector>

#include "framework/gradcheck/gradcheck.h"

namespace examples {

struct NamedReport {
  std::string subject;
  gradus::GradcheckReport report;
  double seconds = 0.0;
};

/// One document: a suite for each report, a test case for each of its inputs and for each failure
/// that concerns no single one.
std::string junit(const std::vector<NamedReport>& reports);

}  // namespace examples
