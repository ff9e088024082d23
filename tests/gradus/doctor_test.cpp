#include "examples/gradus/doctor/finding.h"

#include <stdexcept>

#include "framework/kernels/instruction_set.h"
#include "tests/support/catch.h"

using namespace examples;

TEST_CASE("the doctor finds the numbers to be right", "[gradus][doctor]") {
  for (const Finding& finding : check_numbers()) {
    INFO(finding.topic << ": " << finding.found);
    CHECK(finding.verdict == Verdict::well);
  }
}

TEST_CASE("the doctor finds no fault in this machine", "[gradus][doctor]") {
  for (const Finding& finding : look_at_machine()) {
    INFO(finding.topic << ": " << finding.found);
    CHECK(finding.verdict != Verdict::fault);
    CHECK((finding.verdict == Verdict::note) == !finding.cure.empty());
  }
}

TEST_CASE("what throws is a fault that says why", "[gradus][doctor]") {
  const Finding finding =
      examined("topic", []() -> Finding { throw std::runtime_error("the reason"); });
  CHECK(finding.verdict == Verdict::fault);
  CHECK(finding.found == "the reason");
}

TEST_CASE("the baseline is among the instruction sets, last", "[gradus][doctor]") {
  CHECK(std::string(gradus::instruction_sets().back()) == "baseline");
}
