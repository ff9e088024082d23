// What `gradus gradcheck` offers, and the forms of its reports.
#include <algorithm>
#include <set>

#include "examples/gradus/gradcheck/junit.h"
#include "examples/gradus/gradcheck/step_curve.h"
#include "examples/gradus/gradcheck/subject.h"
#include "examples/gradus/gradcheck/worst_elements.h"
#include "examples/support/exit_code.h"
#include "framework/core/random.h"
#include "tests/gradus/markup_checker.h"
#include "tests/support/catch.h"

using namespace gradus;
using namespace gradus::testing;
using namespace examples;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr SubjectSizes kSmall{.batch = 2, .heads = 2, .dim = 4, .length = 3, .causal = true};

GradcheckReport checked(const Checkable& subject, int order = 1) {
  return gradcheck(subject.function, subject.inputs,
                   {.names = subject.names, .order = order, .max_elements = 40, .directions = 4});
}

Checkable made(const std::string& name) {
  manual_seed(1);
  return find_subject(name).make(kSmall);
}

Terminal terminal() { return Terminal(-1); }

}  // namespace

TEST_CASE("every subject is right but the one that is broken", "[gradus][gradcheck-command]") {
  std::set<std::string> names;
  for (const Subject& subject : all_subjects()) {
    INFO(subject.name);
    CHECK(names.insert(subject.name).second);
    const Checkable checkable = made(subject.name);
    CHECK(checkable.names.size() == checkable.inputs.size());
    CHECK(checked(checkable).passed() == subject.is_right);
  }
}

TEST_CASE("a tied weight is one input", "[gradus][gradcheck-command]") {
  const Checkable gpt = made("gpt");
  CHECK(std::count(gpt.names.begin(), gpt.names.end(), "token.weight") == 1);
  CHECK(std::count(gpt.names.begin(), gpt.names.end(), "head.weight") == 0);
}

TEST_CASE("an unknown input names the nearest one", "[gradus][gradcheck-command]") {
  CHECK_NOTHROW(check_has_input(made("attention"), "k_linear.weight"));
  CHECK_THROWS_WITH(check_has_input(made("attention"), "k_linear.wieght"),
                    ContainsSubstring("did you mean k_linear.weight?"));
}

TEST_CASE("an unknown subject names the nearest one", "[gradus][gradcheck-command]") {
  CHECK_THROWS_WITH(find_subject("atention"), ContainsSubstring("did you mean attention?"));
}

TEST_CASE("JUnit counts what fails", "[gradus][gradcheck-command]") {
  const std::string text =
      junit({{"broken", checked(made("broken"))}, {"linear", checked(made("linear"))}});
  CHECK(markup_fault(text) == "");
  CHECK_THAT(text, ContainsSubstring("name=\"gradcheck.broken\" tests=\"3\" failures=\"2\""));
  CHECK_THAT(text, ContainsSubstring("name=\"gradcheck.linear\" tests=\"3\" failures=\"0\""));
  CHECK(element_count(text, "failure") == 2);
}

TEST_CASE("the error has a valley where the gradient is right", "[gradus][gradcheck-command]") {
  const GradcheckOptions options{.max_elements = 40, .directions = 4};
  CHECK_THAT(step_curve(made("softmax"), options, "", terminal()), ContainsSubstring("a valley"));
  CHECK_THAT(step_curve(made("broken"), options, "", terminal()), ContainsSubstring("no valley"));
}

TEST_CASE("the worst elements come first", "[gradus][gradcheck-command]") {
  const GradcheckReport report = checked(made("broken"));
  const std::string table = worst_elements(report.inputs[0], terminal());
  CHECK(std::count(table.begin(), table.end(), '\n') == 11);
  CHECK_THAT(table, ContainsSubstring("FAIL"));
}
