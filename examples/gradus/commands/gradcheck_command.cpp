#include "examples/gradus/commands/gradcheck_command.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "examples/gradus/gradcheck/junit.h"
#include "examples/gradus/gradcheck/step_curve.h"
#include "examples/gradus/gradcheck/subject.h"
#include "examples/gradus/gradcheck/worst_elements.h"
#include "examples/support/command_line.h"
#include "examples/support/format.h"
#include "examples/support/text_layout.h"
#include "framework/core/random.h"

namespace examples {
namespace {

struct GradcheckCommand {
  std::vector<std::string> subjects;
  SubjectSizes sizes;
  std::uint32_t seed = 1;
  int order = 1;
  Index max_elements = 300;
  std::string only;
  std::string plot;
  std::string format = "text";
  bool verbose = false;
  bool list = false;
};

void print_list() {
  for (const Subject& subject : all_subjects()) {
    std::cout << " " << padded(subject.name, 17) << subject.meaning << "\n";
  }
}

/// "all" stands for all that are right.
std::vector<std::string> expanded(const std::vector<std::string>& given) {
  if (given.empty()) {
    throw Failure(kUsage,
                  "gradcheck: what shall be checked?\n"
                  "  hint   gradus gradcheck attention; gradus gradcheck --list");
  }
  if (given != std::vector<std::string>{"all"}) return given;
  std::vector<std::string> names;
  for (const Subject& subject : all_subjects()) {
    if (subject.is_right) names.push_back(subject.name);
  }
  return names;
}

Checkable made(const std::string& name, const GradcheckCommand& command) {
  gradus::manual_seed(command.seed);
  Checkable subject = find_subject(name).make(command.sizes);
  if (!command.only.empty()) check_has_input(subject, command.only);
  return subject;
}

/// All inputs are checked even for the sake of one: only together do they show whether the check is
/// vacuous, and where a fault comes from.
NamedReport checked(const std::string& name, const Checkable& subject,
                    const gradus::GradcheckOptions& options, const std::string& only) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  NamedReport result{name, gradcheck(subject.function, subject.inputs, options)};
  std::erase_if(result.report.inputs, [&](const gradus::GradcheckInput& input) {
    return !only.empty() && input.name != only;
  });
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

void print_text(const NamedReport& named, const GradcheckCommand& command) {
  std::cout << named.subject << ": " << find_subject(named.subject).meaning
            << format(", %.0f ms\n", 1e3 * named.seconds) << named.report;
  if (!command.verbose) return;
  for (const gradus::GradcheckInput& input : named.report.inputs) {
    std::cout << worst_elements(input, Terminal(STDOUT_FILENO));
  }
}

ExitCode check(const GradcheckCommand& command) {
  if (command.list) {
    print_list();
    return kWell;
  }
  std::vector<NamedReport> reports;
  bool passed = true;
  for (const std::string& name : expanded(command.subjects)) {
    const Checkable subject = made(name, command);
    const gradus::GradcheckOptions options{.seed = command.seed,
                                           .names = subject.names,
                                           .order = command.order,
                                           .max_elements = command.max_elements};
    reports.push_back(checked(name, subject, options, command.only));
    passed = passed && reports.back().report.passed();
    if (command.format == "json") std::cout << to_json(reports.back().report) << "\n";
    if (command.format == "text") print_text(reports.back(), command);
    if (command.format == "text" && command.plot == "h") {
      std::cout << step_curve(subject, options, command.only, Terminal(STDOUT_FILENO));
    }
  }
  if (command.format == "junit") std::cout << junit(reports);
  return passed ? kWell : kCriterionMissed;
}

}  // namespace

void add_gradcheck_command(CLI::App& app, Action& chosen) {
  const auto given = std::make_shared<GradcheckCommand>();
  CLI::App& command = *app.add_subcommand("gradcheck", "Compare backward with finite differences");
  command.add_option("subject", given->subjects, "What to check (see --list), or all")
      ->type_name("NAME");
  command.add_flag("--list", given->list, "What can be checked");
  add_number<Index>(command, "--batch", given->sizes.batch, 1, 64, "Sequences");
  add_number<Index>(command, "--heads", given->sizes.heads, 1, 64, "Heads");
  add_number<Index>(command, "--dim", given->sizes.dim, 1, 512, "Features");
  add_number<Index>(command, "--len", given->sizes.length, 1, 256, "Positions");
  command.add_flag("--causal", given->sizes.causal, "No position sees later ones");
  add_number(command, "--order", given->order, 1, 2, "2: the gradients' own gradients as well");
  add_number(command, "--seed", given->seed, 0U, 4294967295U, "Of inputs and parameters");
  add_number<Index>(command, "--max-elements", given->max_elements, 1, 1'000'000,
                    "Larger tensors are moved along 32 random directions");
  command.add_option("--only", given->only, "Report one input or parameter alone")
      ->type_name("NAME");
  command.add_flag("-v,--verbose", given->verbose, "The ten worst elements of each input");
  command.add_option("--format", given->format, "text, json (a line each) or junit")
      ->type_name("FORM")
      ->check(CLI::IsMember({"text", "json", "junit"}));
  command.add_option("--plot", given->plot, "h: the error against the step, a V if all is right")
      ->type_name("h")
      ->check(CLI::IsMember({"h"}));
  command.footer("Exit codes: 0 all gradients are right, 1 some are wrong, 2 usage.");
  command.callback([&chosen, given] { chosen = [given] { return check(*given); }; });
}

}  // namespace examples
