// One run forwards and backwards, a second to compare, and what both say beside single elements.
#include <algorithm>
#include <bit>
#include <cmath>

#include "framework/autograd/backward.h"
#include "framework/core/random.h"
#include "framework/gradcheck/trial_internal.h"

namespace gradus::checking {
namespace {

struct LargestDifference {
  std::size_t place;
  double size;
};
using Difference = std::optional<LargestDifference>;

/// Where the numbers of a and b differ most, if any of their bits do.
Difference difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  Difference largest;
  const Numbers left = numbers_of(a);
  const Numbers right = numbers_of(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(left[i]) == std::bit_cast<std::uint64_t>(right[i])) continue;
    const double size = std::abs(left[i] - right[i]);
    if (!largest || size > largest->size) largest = {i, size};
  }
  return largest;
}

std::string output_name(const std::vector<Tensor>& outputs, std::size_t nth) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < outputs.size(); ++k) names.push_back(text("output ", k));
  return place_name(names, outputs, nth);
}

}  // namespace

void Trial::run() {
  const Run first = forward_and_backward();
  if (has_nan(first) || !repeats(first)) return;
  base_ = numbers_of(first.outputs);
  rounding_ = rounding_of(weights_, base_, options_.step > 0.0 ? options_.step : kRelativeStep);
  const Tape tape(first.outputs);
  std::vector<std::vector<Pair>> pairs;
  for (std::size_t i = 0, v = 0; i < arguments_.size(); ++i) {
    if (!is_checked(arguments_[i])) {
      rows_.push_back(passed_through(i));
      continue;
    }
    const Node* node = arguments_[i].impl().node.get();
    const bool connected =
        std::ranges::any_of(tape, [node](const Ref<Node>& step) { return step.get() == node; });
    Examined examined = examine(variables_[v], first.gradients[v], connected);
    rows_.push_back(std::move(examined.row));
    pairs.push_back(std::move(examined.pairs));
    ++v;
  }
  look_for_vacuity();
  diagnose_rows(pairs, first);
  report_.inputs.insert(report_.inputs.end(), rows_.begin(), rows_.end());
}

Trial::Run Trial::forward_and_backward() {
  Run run;
  run.outputs = outputs();
  if (cotangents_.empty()) {
    Generator generator(options_.seed);
    for (const Tensor& output : run.outputs) {
      cotangents_.push_back(random_cotangent(output, generator));
    }
    weights_ = numbers_of(cotangents_);
  }
  check_sizes(run.outputs);
  std::vector<Tensor> leaves;
  for (const Variable& variable : variables_) leaves.push_back(variable.leaf);
  run.gradients =
      gradients(run.outputs, leaves, {.grad_outputs = cotangents_, .allow_unused = true});
  return run;
}

void Trial::check_sizes(const std::vector<Tensor>& outputs) const {
  if (std::ranges::equal(outputs, cotangents_, {}, &Tensor::shape, &Tensor::shape)) return;
  throw ValueError("gradcheck: the function's outputs change in shape from call to call");
}

void Trial::fail(const std::string& summary, const ErrorDetails& details) {
  report_.failures.emplace_back(Error(summary, details).what());
}

bool Trial::has_nan(const Run& run) {
  const Numbers values = numbers_of(run.outputs);
  const auto is_nan = [](double value) { return std::isnan(value); };
  const auto first = std::ranges::find_if(values, is_nan);
  if (first == values.end()) return false;
  const auto place = static_cast<std::size_t>(first - values.begin());
  fail(subject() + " returned NaN",
       {.got = text(std::ranges::count_if(values, is_nan), " of ", values.size(),
                    " numbers, first at ", output_name(run.outputs, place))});
  return true;
}

/// Runs everything once more, and compares all bits.
bool Trial::repeats(const Run& first) {
  if (!options_.check_determinism) return true;
  const Run second = forward_and_backward();
  const Difference outputs = difference(first.outputs, second.outputs);
  const Difference gradients = difference(first.gradients, second.gradients);
  report_.bit_identical = !outputs && !gradients;
  if (outputs) {
    fail(subject() + " is not deterministic",
         {.got = text("two calls on the same inputs differ by ", outputs->size, " at ",
                      output_name(first.outputs, outputs->place)),
          .hint = "is dropout on? eval() or fix the seed"});
  } else if (gradients) {
    std::vector<std::string> names;
    for (const Variable& v : variables_) names.push_back(name_of(options_, v.number));
    fail("backward of " + subject() + " is not deterministic",
         {.got = text("two runs on the same inputs differ by ", gradients->size, " at ",
                      place_name(names, first.gradients, gradients->place))});
  }
  return report_.bit_identical;
}

GradcheckInput Trial::passed_through(std::size_t number) const {
  const Tensor& input = arguments_[number];
  GradcheckInput row = row_for(number, input.defined() ? input.shape() : Shape{});
  row.note = input.defined() ? text("not checked: ", input.dtype()) : "not checked: undefined";
  return row;
}

GradcheckInput Trial::row_for(std::size_t number, const Shape& shape) const {
  return {.name = name_of(options_, number), .shape = shape, .number = number, .order = order_};
}

/// Fails if zeros for every gradient would pass, although there was something to see.
void Trial::look_for_vacuity() {
  Index checked = 0;
  Index kinks = 0;
  bool has_empty_input = false;
  for (const GradcheckInput& row : rows_) {
    if (!row.passed || !is_zero(row)) return;
    if (row.analytic.defined() && row.analytic.numel() == 0) has_empty_input = true;
    checked += row.checked;
    kinks += row.kinks;
  }
  if (weights_.empty() || has_empty_input) return;
  fail("the check is vacuous: gradients of zero would pass, too",
       {.got = text(subject(), " has no slope in ", checked - kinks, " elements, and a kink in ",
                    kinks),
        .hint = kinks > 0 ? "move the inputs away from the kink"
                          : "return the tensor itself, not its sum: the weights are random"});
}

}  // namespace gradus::checking
