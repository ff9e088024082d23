#include "examples/gradus/commands/doctor_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "examples/gradus/doctor/finding.h"
#include "examples/support/text_layout.h"

namespace examples {
namespace {

constexpr int kVerdictColumns = 7;
constexpr int kTopicColumns = 11;

std::vector<Finding> examine() {
  std::vector<Finding> findings = look_at_machine();
  for (const Finding& finding : check_numbers()) findings.push_back(finding);
  findings.push_back(examined("speed", measure_speed));
  return findings;
}

void print_text(const Finding& finding) {
  std::cout << " " << padded(name(finding.verdict), kVerdictColumns)
            << padded(finding.topic, kTopicColumns) << finding.found << "\n";
  if (finding.cure.empty()) return;
  std::cout << repeated(" ", 1 + kVerdictColumns) << padded("cure", kTopicColumns) << finding.cure
            << "\n";
}

void print_json(const Finding& finding) {
  const nlohmann::ordered_json line{{"topic", finding.topic},
                                    {"verdict", name(finding.verdict)},
                                    {"found", finding.found},
                                    {"cure", finding.cure}};
  std::cout << line.dump() << "\n";
}

ExitCode doctor(bool as_json) {
  const std::vector<Finding> findings = examine();
  for (const Finding& finding : findings) as_json ? print_json(finding) : print_text(finding);
  const auto faults = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::fault;
  });
  if (!as_json) {
    std::cout << (faults == 0 ? "all is well\n" : "something is wrong: see FAULT above\n");
  }
  return faults == 0 ? kWell : kCriterionMissed;
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& chosen) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Look at this machine, and check the numbers");
  command->add_flag("--json", *as_json, "A line of JSON for each finding");
  command->footer("Exit codes: 0 well, 1 something is wrong.");
  command->callback([&chosen, as_json] { chosen = [as_json] { return doctor(*as_json); }; });
}

}  // namespace examples
