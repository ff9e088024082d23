// gradcheck() and gradgradcheck(): the options, and the orders. The work is a Trial's.
#include "framework/gradcheck/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/core/random.h"
#include "framework/gradcheck/trial_internal.h"

namespace gradus {
namespace {

using checking::floating;
using checking::name_of;
using checking::Trial;

void check_options(const GradcheckOptions& options, std::size_t inputs) {
  const auto at_least_zero = [](const char* name, double value) {
    if (std::isfinite(value) && value >= 0.0) return;
    throw ValueError(text("gradcheck: ", name, " ", value, " is not a number from 0 up"));
  };
  at_least_zero("step", options.step);
  at_least_zero("rtol", options.rtol);
  at_least_zero("atol", options.atol);
  at_least_zero("max_elements", static_cast<double>(options.max_elements));
  if (options.directions < 1) {
    throw ValueError(text("gradcheck: directions ", options.directions, " is not from 1 up"));
  }
  if (options.order != 1 && options.order != 2) {
    throw ValueError(text("gradcheck: order ", options.order, " is neither 1 nor 2"));
  }
  if (!options.names.empty() && options.names.size() != inputs) {
    throw ValueError(text("gradcheck: ", options.names.size(), " names for ", inputs, " inputs"));
  }
  if (!options.frozen.empty() && options.frozen.size() != inputs) {
    throw ValueError(
        text("gradcheck: ", options.frozen.size(), " frozen masks for ", inputs, " inputs"),
        {.hint = "Tensor() for an input with nothing frozen"});
  }
}

/// The gradients as a function of `count` inputs and of the cotangents that follow them.
GradcheckFunction gradient_function(const GradcheckFunction& function, std::size_t count) {
  return [function, count](const std::vector<Tensor>& all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(count);
    const std::vector<Tensor> inputs(all.begin(), middle);
    return gradients(
        floating(function(inputs)), floating(inputs),
        {.grad_outputs = {middle, all.end()}, .create_graph = true, .allow_unused = true});
  };
}

/// The default generator's place in its stream, restored when the check is over.
class DefaultStream {
 public:
  DefaultStream() : before_(*LockedGenerator()) {}
  DefaultStream(const DefaultStream&) = delete;
  DefaultStream& operator=(const DefaultStream&) = delete;
  ~DefaultStream() { *LockedGenerator() = before_; }

 private:
  Generator before_;
};

void note_repeated_inputs(const std::vector<Tensor>& inputs, const GradcheckOptions& options,
                          GradcheckReport& report) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!checking::is_checked(inputs[i]) || !inputs[i].is_same(inputs[j])) continue;
      report.remarks.push_back(text(name_of(options, i), " is the same tensor as ",
                                    name_of(options, j), ": each was moved by itself;\n      the ",
                                    "derivative of f(x, x) is the sum of the two gradients"));
      break;
    }
  }
}

void check_second_order(const GradcheckFunction& function, std::vector<Tensor> inputs,
                        GradcheckOptions options, GradcheckReport& report) {
  const std::size_t count = inputs.size();
  const std::vector<Tensor> outputs = Trial(function, inputs, options, 1, report).outputs();
  for (std::size_t i = options.names.size(); i < count; ++i) {
    options.names.push_back(text("input ", i));
  }
  options.frozen.resize(count + outputs.size());
  Generator generator(options.seed + 1);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    inputs.push_back(checking::with_gaps(checking::random_cotangent(outputs[k], generator)));
    options.names.push_back(outputs.size() == 1 ? "grad_output" : text("grad_output ", k));
  }
  Trial(gradient_function(function, count), inputs, options, 2, report).run();
}

/// Which of the two orders a check is of.
struct Orders {
  bool first;
  bool second;
};

GradcheckReport check(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                      const GradcheckOptions& options, Orders orders) {
  check_options(options, inputs.size());
  const EnableGrad grad;
  const DefaultStream stream;
  GradcheckReport report{.seed = options.seed,
                         .step = options.step,
                         .rtol = options.rtol,
                         .atol = options.atol,
                         .max_elements = options.max_elements};
  note_repeated_inputs(inputs, options, report);
  if (orders.first) Trial(function, inputs, options, 1, report).run();
  if (orders.second && report) check_second_order(function, inputs, options, report);
  return report;
}

}  // namespace

bool GradcheckReport::passed() const {
  return failures.empty() && std::ranges::all_of(inputs, &GradcheckInput::passed);
}

GradcheckReport gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  return check(function, inputs, options, {.first = true, .second = options.order == 2});
}

GradcheckReport gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  return check(function, inputs, options, {.first = false, .second = true});
}

}  // namespace gradus
