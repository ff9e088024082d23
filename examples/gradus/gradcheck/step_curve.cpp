#include "examples/gradus/gradcheck/step_curve.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/support/format.h"
#include "examples/support/text_layout.h"

namespace examples {
namespace {

constexpr int kFirstExponent = -1;
constexpr int kLastExponent = -12;
constexpr double kLowest = -14.0;  // the error's exponent that has no bar
constexpr int kColumnsPerDecade = 3;
constexpr int kWidestBar = 48;
constexpr double kPlain = 1e-4;  // no right gradient is this far off in its valley

struct Trial {
  double step;
  double error;
};

double largest_error(const gradus::GradcheckReport& report, const std::string& name) {
  double largest = 0.0;
  for (const gradus::GradcheckInput& input : report.inputs) {
    if (!name.empty() && input.name != name) continue;
    if (!std::isfinite(input.max_rel_error)) return HUGE_VAL;
    largest = std::max(largest, input.max_rel_error);
  }
  return largest;
}

std::string bar(double error, const Terminal& terminal) {
  const double decades = std::log10(std::max(error, 1e-300)) - kLowest;
  const int length = std::isfinite(error)
                         ? static_cast<int>(std::lround(decades * kColumnsPerDecade))
                         : kWidestBar;
  return repeated(terminal.pick("█", "#"), std::clamp(length, 1, kWidestBar));
}

}  // namespace

std::string step_curve(const Checkable& subject, const gradus::GradcheckOptions& options,
                       const std::string& input, const Terminal& terminal) {
  gradus::GradcheckOptions trial_options = options;
  trial_options.order = 1;
  trial_options.check_determinism = false;
  std::vector<Trial> trials;
  for (int exponent = kFirstExponent; exponent >= kLastExponent; --exponent) {
    for (const double factor : {1.0, 0.3}) {
      trial_options.step = factor * std::pow(10.0, exponent);
      const auto report = gradcheck(subject.function, subject.inputs, trial_options);
      trials.push_back({trial_options.step, largest_error(report, input)});
    }
  }
  const auto best =
      std::min_element(trials.begin(), trials.end(),
                       [](const Trial& a, const Trial& b) { return a.error < b.error; });

  std::string picture = " step h   largest relative error, log scale\n";
  for (const Trial& trial : trials) {
    picture += format(" %7.0e  %7.1e  ", trial.step, trial.error) + bar(trial.error, terminal) +
               (trial.step == best->step ? "  best\n" : "\n");
  }
  return picture + (best->error < kPlain
                        ? " a valley: the gradient agrees where the step is right\n"
                        : " no valley: no step makes them agree, so the gradient is wrong\n");
}

}  // namespace examples
