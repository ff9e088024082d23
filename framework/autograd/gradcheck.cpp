// A Trial checks one function at one point: it runs it twice forwards and backwards, moves each
// element of each input to take slopes, and judges. A second order is a second Trial, of the
// gradients seen as a function. Printing the report is at the end.
#include "framework/autograd/gradcheck.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iomanip>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <unordered_set>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/node.h"
#include "framework/core/random.h"

namespace gradus {
namespace {

using Numbers = std::vector<double>;

constexpr double kRelativeStep = 6e-6;  // about the cube root of float64's rounding
constexpr double kKink = 0.01;          // a jump of the slope by this share of itself
constexpr double kNoise = 64.0;  // roundings between input and output, in units of the last place

// ---- where elements lie ----

/// For each element in row-major order, its distance from the first one in memory.
std::vector<Index> positions_of(const Tensor& x) {
  std::vector<Index> positions;
  IndexList index = IndexList::filled(x.dim(), 0);
  for (Index n = 0; n < x.numel(); ++n) {
    Index position = 0;
    for (Index i = 0; i < x.dim(); ++i) position += index[i] * x.strides()[i];
    positions.push_back(position);
    for (Index i = x.dim() - 1; i >= 0 && ++index[i] == x.shape()[i]; --i) index[i] = 0;
  }
  return positions;
}

/// The index of the nth element in row-major order.
IndexList index_of(const Shape& shape, std::size_t nth) {
  IndexList index = shape;
  auto rest = static_cast<Index>(nth);
  for (Index i = shape.size() - 1; i >= 0; --i) {
    index[i] = rest % shape[i];
    rest /= shape[i];
  }
  return index;
}

/// "k[0, 2]", "input 1 [0, 2]", and "k" for a tensor without axes.
std::string element_name(const std::string& name, const IndexList& index) {
  std::string result = name;
  for (Index i = 0; i < index.size(); ++i) {
    const char* before = i > 0 ? ", " : name.find(' ') == std::string::npos ? "[" : " [";
    result += text(before, index[i]);
  }
  return index.empty() ? result : result + "]";
}

/// A leaf with the numbers and strides of x, in memory of its own that is NaN between and before
/// them, so that an op which ignores strides or offset gives itself away.
Tensor leaf_like(const Tensor& x, const std::vector<Index>& positions) {
  const Index extent = positions.empty() ? 0 : *std::ranges::max_element(positions) + 1;
  const Index offset = std::min(x.impl().offset, 8 + x.impl().offset % 8);
  Tensor memory(Shape{offset + extent}, float64);
  memory.fill_(std::numeric_limits<double>::quiet_NaN());
  Tensor leaf = memory.alias(x.shape(), x.strides(), offset);
  leaf.copy_(x.detach());
  return leaf.requires_grad_();
}

std::string short_number(double value) {
  std::ostringstream out;
  out << std::scientific << std::setprecision(1) << value;
  return out.str();
}
std::string signed_number(double value) {
  std::ostringstream out;
  out << std::showpos << std::setprecision(6) << value;
  return std::isnan(value) ? "nan" : out.str();
}

bool is_checked(const Tensor& input) { return input.defined() && is_floating(input.dtype()); }

std::vector<Tensor> floating(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  std::ranges::copy_if(tensors, std::back_inserter(result), is_checked);
  return result;
}

// ---- what may be checked ----

std::string name_of(const GradcheckOptions& options, std::size_t number) {
  return options.names.empty() ? text("input ", number) : options.names[number];
}

void check_options(const GradcheckOptions& options, std::size_t inputs) {
  const auto at_least_zero = [](const char* name, double value) {
    if (std::isfinite(value) && value >= 0.0) return;
    throw ValueError(text("gradcheck: ", name, " ", value, " is not a number from 0 up"));
  };
  at_least_zero("step", options.step);
  at_least_zero("rtol", options.rtol);
  at_least_zero("atol", options.atol);
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

void check_float64(const std::string& what, const Tensor& x, const char* hint) {
  if (x.dtype() == float64) return;
  throw DTypeError(text("gradcheck: ", what, " is ", x.dtype(), ", too coarse for differences"),
                   {.got = text(what, " ", x.shape(), " ", x.dtype()),
                    .need = "float64: float32 rounds a step of 6e-6 away",
                    .hint = hint});
}

void check_apart(const std::string& name, const Tensor& x, std::vector<Index> positions) {
  std::ranges::sort(positions);
  if (std::ranges::adjacent_find(positions) == positions.end()) return;
  throw ValueError(text("gradcheck: ", name, " overlaps itself: moving one element moves others"),
                   {.got = text(x.shape(), " with strides ", x.strides()),
                    .hint = "clone() it, or expand() it inside the function"});
}

void check_frozen(const std::string& name, const Tensor& x, const Tensor& mask) {
  if (!mask.defined() || (mask.dtype() == boolean && mask.shape() == x.shape())) return;
  throw ValueError(
      text("gradcheck: the frozen mask does not fit ", name),
      {.got = text("mask ", mask.shape(), " ", mask.dtype()), .need = text(x.shape(), " bool")});
}

// ---- the function ----

Numbers numbers_of(const std::vector<Tensor>& tensors) {
  Numbers numbers;
  for (const Tensor& tensor : tensors) {
    const Numbers more = tensor.to_vector<double>();
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

/// The name of the nth of numbers_of(tensors).
std::string place_name(const std::vector<std::string>& names, const std::vector<Tensor>& tensors,
                       std::size_t nth) {
  std::size_t k = 0;
  for (; nth >= static_cast<std::size_t>(tensors[k].numel()); ++k) {
    nth -= static_cast<std::size_t>(tensors[k].numel());
  }
  return element_name(names[k], index_of(tensors[k].shape(), nth));
}

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

/// The steps that the outputs were computed by.
std::unordered_set<const Node*> steps_behind(const std::vector<Tensor>& outputs) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> waiting;
  waiting.reserve(outputs.size());
  for (const Tensor& output : outputs) waiting.push_back(output.impl().node.get());
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (!node || !seen.insert(node).second) continue;
    for (const Node::Input& input : node->inputs()) waiting.push_back(input.node.get());
  }
  return seen;
}

/// The floating outputs. Throws where there is none, and where one passed through float32.
std::vector<Tensor> checked_outputs(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> result = floating(outputs);
  if (result.empty()) throw ValueError("gradcheck: the function returned no floating tensor");
  const char* hint = "compute in float64 throughout: model.to(float64)";
  for (std::size_t i = 0; i < result.size(); ++i) {
    check_float64(text("output ", i), result[i], hint);
  }
  for (const Node* step : steps_behind(result)) {
    if (step->dtype() == float64) continue;
    throw DTypeError(
        text("gradcheck: the function computes in ", step->dtype(), " on the way"),
        {.got = text("step ", step->name(), " ", step->shape(), " ", step->dtype()), .hint = hint});
  }
  return result;
}

/// Numbers of size 0.5 to 1.5 and of either sign: none so small that it would hide its output.
Tensor random_cotangent(const Tensor& output, Generator& generator) {
  Numbers numbers(static_cast<std::size_t>(output.numel()));
  generator.fill_uniform(numbers, -1.0, 1.0);
  for (double& number : numbers) number += number < 0.0 ? -0.5 : 0.5;
  Tensor cotangent(output.shape(), float64);
  std::ranges::copy(numbers, cotangent.mutable_data<double>());
  return cotangent;
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

// ---- slopes ----

/// The slope of L by one element.
struct Slope {
  double value = 0.0;
  double uncertainty = 0.0;
  /// The least and the greatest of the slopes on either side, and whether they are one slope.
  double least = 0.0;
  double greatest = 0.0;
  bool smooth = true;
  bool frozen = false;  ///< not moved: the gradient is to be 0
};

/// The slope of sum(weights * values) from `low` to `high`, which lie `distance` apart.
double weighted_slope(const Numbers& weights, const Numbers& low, const Numbers& high,
                      double distance) {
  double slope = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // Equal infinities (a score that stays masked) have a slope of 0.
    if (low[i] != high[i]) slope += weights[i] * ((high[i] - low[i]) / distance);
  }
  return slope;
}

/// What the rounding of the outputs may come to in a slope over `step`.
double rounding_of(const Numbers& weights, const Numbers& values, double step) {
  double squares = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weighted = weights[i] * values[i];
    if (std::isfinite(weighted)) squares += weighted * weighted;
  }
  return kNoise * std::numeric_limits<double>::epsilon() * std::sqrt(squares) / step;
}

/// The values of the outputs around a point: one and two steps below, at it, one and two above.
struct Neighbourhood {
  std::array<double, 5> x;
  std::array<Numbers, 5> values;

  double slope(const Numbers& weights, std::size_t from, std::size_t to) const {
    return weighted_slope(weights, values[from], values[to], x[to] - x[from]);
  }
};

/// With D(h) = (L(x + h) - L(x - h)) / 2h the error of D(h) + (D(h) - D(2h)) / 3 falls with h^4.
/// The bend, right slope minus left, doubles with h where L is smooth, and is constant at a kink.
Slope extrapolated(const Neighbourhood& near, const Numbers& weights) {
  const double one_step = near.slope(weights, 1, 3);
  const double two_steps = near.slope(weights, 0, 4);
  const std::array<double, 4> sides{near.slope(weights, 0, 2), near.slope(weights, 1, 2),
                                    near.slope(weights, 2, 3), near.slope(weights, 2, 4)};
  const double jump = std::abs(2.0 * (sides[2] - sides[1]) - (sides[3] - sides[0]));
  const double off = std::abs(one_step - two_steps);

  Slope slope;
  slope.value = one_step + (one_step - two_steps) / 3.0;
  slope.uncertainty = off;
  slope.least = *std::ranges::min_element(sides);
  slope.greatest = *std::ranges::max_element(sides);
  slope.smooth =
      std::max(jump, off) <= kKink * std::max(std::abs(slope.least), std::abs(slope.greatest));
  return slope;
}

enum class Finding { right, at_kink, wrong };

Finding finding(double analytic, const Slope& slope, double limit) {
  if (!std::isfinite(analytic) || !std::isfinite(slope.value)) return Finding::wrong;
  const bool steep = std::max(std::abs(slope.least), std::abs(slope.greatest)) > limit;
  if (slope.smooth || !steep) {  // not steep and not smooth is but the noise of rounding
    return std::abs(analytic - slope.value) <= limit ? Finding::right : Finding::wrong;
  }
  const bool between = analytic >= slope.least - limit && analytic <= slope.greatest + limit;
  return between ? Finding::at_kink : Finding::wrong;
}

/// |analytic - numeric|, or NaN where one of them is not finite: that counts as larger than any.
double error_of(double analytic, const Slope& slope) {
  const double error = std::abs(analytic - slope.value);
  return std::isfinite(error) ? error : std::numeric_limits<double>::quiet_NaN();
}
bool is_larger(double error, double other) {
  return error > other || (std::isnan(error) && !std::isnan(other));
}

void add_note(GradcheckInput& row, const std::string& note) {
  row.note += (row.note.empty() ? "" : ", ") + note;
}

void describe(GradcheckInput& row, std::size_t worst, double analytic, const Slope& slope) {
  row.worst = index_of(row.shape, worst);
  row.worst_analytic = analytic;
  row.worst_numeric = slope.value;
  row.worst_uncertainty = slope.uncertainty;
  if (row.passed) return;
  if (std::isnan(row.max_abs_error)) {
    add_note(row, "not finite");
  } else if (!slope.smooth) {
    add_note(row, text("not smooth here: slopes from ", slope.least, " to ", slope.greatest));
  }
}

/// Compares the two gradients of one input, element by element.
void compare(GradcheckInput& row, const std::vector<Slope>& slopes,
             const GradcheckOptions& options) {
  const Numbers analytic = row.analytic.to_vector<double>();
  for (const Slope& slope : slopes) {
    if (!slope.frozen) ++row.checked;
    const bool counts = slope.smooth && std::isfinite(slope.value);
    if (counts) row.scale = std::max(row.scale, std::abs(slope.value));
  }
  row.limit = options.atol + options.rtol * row.scale + row.rounding;
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const Finding found = finding(analytic[i], slopes[i], row.limit);
    if (found == Finding::at_kink) ++row.kinks;
    if (found == Finding::at_kink) continue;
    if (found == Finding::wrong) ++row.wrong;
    const double error = error_of(analytic[i], slopes[i]);
    if (worst && !is_larger(error, row.max_abs_error)) continue;
    worst = i;
    row.max_abs_error = error;
  }
  row.passed = row.wrong == 0;
  row.max_rel_error = row.scale > 0.0 ? row.max_abs_error / row.scale : 0.0;
  if (worst) describe(row, *worst, analytic[*worst], slopes[*worst]);
}

/// Whether a gradient of zeros would pass.
bool is_zero(const GradcheckInput& row) { return row.scale <= row.limit; }

/// Says what a reader should know. `connected`: a tape leads from an output to this input.
void comment(GradcheckInput& row, bool connected) {
  const Index elements = row.analytic.numel();
  const Index zeros = std::ranges::count(row.analytic.to_vector<double>(), 0.0);
  if (elements == 0) add_note(row, "no elements");
  if (row.passed && row.kinks < row.checked && is_zero(row)) add_note(row, "all zero, as it must");
  if (!row.passed && !connected) {
    add_note(row, "not on the tape of any output: detached, or under NoGrad?");
  } else if (!row.passed && zeros == elements) {
    add_note(row, "no gradient arrives here");
  }
  if (row.kinks > 0) add_note(row, text(row.kinks, " at a kink"));
  if (row.checked < elements) add_note(row, text(elements - row.checked, " frozen"));
}

// ---- one function at one point ----

/// An input under check.
struct Variable {
  std::size_t number;
  Tensor leaf;
  std::vector<Index> positions;
  std::vector<bool> frozen;  ///< for each element
};

class Trial {
 public:
  Trial(GradcheckFunction function, const std::vector<Tensor>& inputs,
        const GradcheckOptions& options, int order, GradcheckReport& report)
      : function_(std::move(function)),
        options_(options),
        order_(order),
        report_(report),
        arguments_(inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (is_checked(inputs[i])) variables_.push_back(made_variable(i, inputs[i]));
    }
    for (const Variable& variable : variables_) arguments_[variable.number] = variable.leaf;
    if (!variables_.empty()) return;
    throw ValueError("gradcheck: nothing to check: no input is a floating tensor",
                     {.got = text(inputs.size(), " inputs")});
  }

  void run() {
    const Run first = forward_and_backward();
    if (has_nan(first) || !repeats(first)) return;
    base_ = numbers_of(first.outputs);
    rounding_ = rounding_of(weights_, base_, options_.step > 0.0 ? options_.step : kRelativeStep);
    const auto steps = steps_behind(first.outputs);
    for (std::size_t i = 0, v = 0; i < arguments_.size(); ++i) {
      if (is_checked(arguments_[i])) {
        const bool connected = steps.contains(arguments_[i].impl().node.get());
        rows_.push_back(examine(variables_[v], first.gradients[v], connected));
        ++v;
      } else {
        rows_.push_back(passed_through(i));
      }
    }
    look_for_vacuity();
    report_.inputs.insert(report_.inputs.end(), rows_.begin(), rows_.end());
  }

  /// What the function returns for the inputs.
  std::vector<Tensor> outputs() {
    ++report_.evaluations;
    return checked_outputs(function_(arguments_));
  }

 private:
  struct Run {
    std::vector<Tensor> outputs;
    std::vector<Tensor> gradients;  ///< by each variable
  };

  Variable made_variable(std::size_t number, const Tensor& input) const {
    const std::string name = name_of(options_, number);
    check_float64(name, input, "x.to(float64), and model.to(float64) for a layer");
    const std::vector<Index> positions = positions_of(input);
    check_apart(name, input, positions);
    std::vector<bool> frozen(positions.size(), false);
    if (!options_.frozen.empty() && options_.frozen[number].defined()) {
      check_frozen(name, input, options_.frozen[number]);
      frozen = options_.frozen[number].to_vector<bool>();
    }
    return {number, leaf_like(input, positions), positions, std::move(frozen)};
  }

  Run forward_and_backward() {
    Run run;
    run.outputs = outputs();
    if (cotangents_.empty()) draw_cotangents(run.outputs);
    check_sizes(run.outputs);
    std::vector<Tensor> leaves;
    for (const Variable& variable : variables_) leaves.push_back(variable.leaf);
    run.gradients =
        gradients(run.outputs, leaves, {.grad_outputs = cotangents_, .allow_unused = true});
    return run;
  }

  void draw_cotangents(const std::vector<Tensor>& outputs) {
    Generator generator(options_.seed);
    for (const Tensor& output : outputs) cotangents_.push_back(random_cotangent(output, generator));
    weights_ = numbers_of(cotangents_);
  }

  void check_sizes(const std::vector<Tensor>& outputs) const {
    if (std::ranges::equal(outputs, cotangents_, {}, &Tensor::shape, &Tensor::shape)) return;
    throw ValueError("gradcheck: the function's outputs change in shape from call to call");
  }

  void fail(const std::string& summary, const ErrorDetails& details) {
    report_.failures.emplace_back(Error(summary, details).what());
  }

  std::string subject() const { return order_ == 1 ? "the function" : "the gradient function"; }

  std::string output_name(const Run& run, std::size_t nth) const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < run.outputs.size(); ++k) names.push_back(text("output ", k));
    return place_name(names, run.outputs, nth);
  }
  std::string variable_name(const Run& run, std::size_t nth) const {
    std::vector<std::string> names;
    for (const Variable& v : variables_) names.push_back(name_of(options_, v.number));
    return place_name(names, run.gradients, nth);
  }

  bool has_nan(const Run& run) {
    const Numbers values = numbers_of(run.outputs);
    const auto is_nan = [](double value) { return std::isnan(value); };
    const auto first = std::ranges::find_if(values, is_nan);
    if (first == values.end()) return false;
    const auto place = static_cast<std::size_t>(first - values.begin());
    fail(subject() + " returned NaN",
         {.got = text(std::ranges::count_if(values, is_nan), " of ", values.size(),
                      " numbers, first at ", output_name(run, place))});
    return true;
  }

  /// Runs everything once more, and compares all bits.
  bool repeats(const Run& first) {
    if (!options_.check_determinism) return true;
    const Run second = forward_and_backward();
    const Difference outputs = difference(first.outputs, second.outputs);
    const Difference gradients = difference(first.gradients, second.gradients);
    report_.bit_identical = !outputs && !gradients;
    if (outputs) {
      fail(subject() + " is not deterministic",
           {.got = text("two calls on the same inputs differ by ", outputs->size, " at ",
                        output_name(first, outputs->place)),
            .hint = "is dropout on? eval() or fix the seed"});
    } else if (gradients) {
      fail("backward of " + subject() + " is not deterministic",
           {.got = text("two runs on the same inputs differ by ", gradients->size, " at ",
                        variable_name(first, gradients->place))});
    }
    return report_.bit_identical;
  }

  /// The values of all outputs when one element is x.
  Numbers values_at(Variable& variable, Index position, double x) {
    variable.leaf.mutable_data<double>()[position] = x;
    ++report_.evaluations;
    const std::vector<Tensor> outputs = floating(function_(arguments_));
    check_sizes(outputs);
    return numbers_of(outputs);
  }

  Slope slope(Variable& variable, Index position) {
    const double x = variable.leaf.data<double>()[position];
    if (!std::isfinite(x)) return {};  // -inf, say: no step leads away from it
    const double step =
        options_.step > 0.0 ? options_.step : kRelativeStep * std::max(1.0, std::abs(x));
    Neighbourhood near;
    for (std::size_t i = 0; i < 5; ++i) {
      near.x[i] = x + (static_cast<double>(i) - 2.0) * step;
      near.values[i] = i == 2 ? base_ : values_at(variable, position, near.x[i]);
    }
    variable.leaf.mutable_data<double>()[position] = x;
    return extrapolated(near, weights_);
  }

  GradcheckInput examine(Variable& variable, const Tensor& gradient, bool connected) {
    std::vector<Slope> slopes;
    for (std::size_t i = 0; i < variable.positions.size(); ++i) {
      slopes.push_back(variable.frozen[i] ? Slope{.frozen = true}
                                          : slope(variable, variable.positions[i]));
    }
    GradcheckInput row = row_for(variable.number, variable.leaf.shape());
    row.rounding = rounding_;
    row.analytic = gradient;
    row.numeric = Tensor(row.shape, float64);
    std::ranges::transform(slopes, row.numeric.mutable_data<double>(), &Slope::value);
    compare(row, slopes, options_);
    comment(row, connected);
    return row;
  }

  GradcheckInput passed_through(std::size_t number) const {
    const Tensor& input = arguments_[number];
    GradcheckInput row = row_for(number, input.defined() ? input.shape() : Shape{});
    row.note = input.defined() ? text("not checked: ", input.dtype()) : "not checked: undefined";
    return row;
  }

  GradcheckInput row_for(std::size_t number, const Shape& shape) const {
    return {.name = name_of(options_, number), .shape = shape, .number = number, .order = order_};
  }

  /// Fails if zeros for every gradient would pass, although there was something to see.
  void look_for_vacuity() {
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

  GradcheckFunction function_;
  const GradcheckOptions& options_;
  int order_;
  GradcheckReport& report_;
  std::vector<Tensor> arguments_;
  std::vector<Variable> variables_;
  std::vector<Tensor> cotangents_;
  Numbers weights_;  ///< the numbers of the cotangents
  Numbers base_;     ///< the values of the outputs where nothing is moved
  double rounding_ = 0.0;
  std::vector<GradcheckInput> rows_;
};

GradcheckReport empty_report(const GradcheckOptions& options) {
  return {.seed = options.seed, .step = options.step, .rtol = options.rtol, .atol = options.atol};
}

void note_repeated_inputs(const std::vector<Tensor>& inputs, const GradcheckOptions& options,
                          GradcheckReport& report) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_checked(inputs[i]) || !inputs[i].is_same(inputs[j])) continue;
      report.remarks.push_back(text(name_of(options, i), " is the same tensor as ",
                                    name_of(options, j), ": each was moved by itself;\n      the ",
                                    "derivative of f(x, x) is the sum of the two gradients"));
      break;
    }
  }
}

/// A view with gaps, so that the rules meet gradients with strides.
Tensor with_gaps(const Tensor& x) {
  Strides strides = x.strides();
  for (Index& stride : strides) stride *= 2;
  Tensor result = Tensor(Shape{2 * x.numel()}, x.dtype()).alias(x.shape(), strides, 0);
  return result.copy_(x);
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
    inputs.push_back(with_gaps(random_cotangent(outputs[k], generator)));
    options.names.push_back(outputs.size() == 1 ? "grad_output" : text("grad_output ", k));
  }
  Trial(gradient_function(function, count), inputs, options, 2, report).run();
}

// ---- the report ----

using Cells = std::array<std::string, 7>;

Cells cells_of(const GradcheckInput& row) {
  const bool compared = row.checked > row.kinks;
  const bool has_note = row.passed && !row.note.empty();
  Cells cells{row.name, text(row.shape), "-", "-", "-", row.note, "-"};
  if (row.analytic.defined()) cells[2] = text(row.checked);
  if (compared) cells[3] = short_number(row.max_abs_error);
  if (compared && !is_zero(row)) cells[4] = short_number(row.max_rel_error);
  if (!has_note) cells[5] = element_name(row.name, row.worst);
  if (row.analytic.defined()) cells[6] = row.passed ? "ok" : "FAIL";
  return cells;
}

void print_cells(std::ostream& out, const Cells& cells, const std::array<std::size_t, 7>& widths) {
  std::ostringstream line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_number = i >= 2 && i <= 4;
    line << (i == 0 ? " " : "  ") << (is_number ? std::right : std::left)
         << std::setw(static_cast<int>(i + 1 < cells.size() ? widths[i] : 0)) << cells[i];
  }
  out << line.str() << "\n";
}

void print_table(std::ostream& out, const GradcheckReport& report) {
  std::vector<Cells> table{
      {"tensor", "shape", "checked", "max abs", "max rel", "worst element", "verdict"}};
  for (const GradcheckInput& row : report.inputs) table.push_back(cells_of(row));
  std::array<std::size_t, 7> widths{};
  for (const Cells& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  print_cells(out, table.front(), widths);
  int order = 1;
  for (std::size_t r = 0; r < report.inputs.size(); ++r) {
    if (report.inputs[r].order > order) out << " second order: the gradients' own gradients\n";
    order = report.inputs[r].order;
    print_cells(out, table[r + 1], widths);
  }
}

void print_wrong(std::ostream& out, const GradcheckReport& report, const GradcheckInput& row) {
  const double ratio = row.worst_analytic / row.worst_numeric;
  const std::string number = text("input ", row.number);
  const bool by_number = row.name == number || row.order == 2;
  out << "  " << element_name(row.name, row.worst) << (by_number ? "" : ", " + number)
      << (row.order == 2 ? ", second order\n" : "\n") << "    analytic  "
      << signed_number(row.worst_analytic) << "   numeric  " << signed_number(row.worst_numeric)
      << " +- " << short_number(row.worst_uncertainty);
  if (std::isfinite(ratio)) out << "   ratio  " << signed_number(ratio);
  out << "\n    error     " << short_number(row.max_abs_error);
  if (!is_zero(row)) out << ", relative " << short_number(row.max_rel_error);
  out << "\n    limit     " << short_number(row.limit) << " = atol " << report.atol << " + rtol "
      << report.rtol << " * " << short_number(row.scale) << " + rounding "
      << short_number(row.rounding) << "\n    wrong     " << row.wrong << " of "
      << row.analytic.numel() << " elements\n";
  if (!row.note.empty()) out << "    note      " << row.note << "\n";
}

void print_verdict(std::ostream& out, const GradcheckReport& report) {
  double worst = 0.0;
  Index wrong = 0;
  Index checked = 0;
  for (const GradcheckInput& row : report.inputs) {
    if (row.analytic.defined()) ++checked;
    if (!row.passed) ++wrong;
    if (!is_zero(row)) worst = std::max(worst, row.max_rel_error);
  }
  for (const std::string& failure : report.failures) out << "FAIL  " << failure << "\n";
  if (wrong > 0) out << "FAIL  " << wrong << " of " << checked << " tensors\n";
  for (const GradcheckInput& row : report.inputs) {
    if (!row.passed) print_wrong(out, report, row);
  }
  if (report.passed()) {
    out << "PASS  worst " << short_number(worst) << " (limit rtol " << report.rtol << ", atol "
        << report.atol << ")\n";
  }
}

}  // namespace

bool GradcheckReport::passed() const {
  return failures.empty() && std::ranges::all_of(inputs, &GradcheckInput::passed);
}

std::ostream& operator<<(std::ostream& out, const GradcheckReport& report) {
  Index elements = 0;
  for (const GradcheckInput& row : report.inputs) elements += row.checked;
  out << "gradcheck  float64, seed " << report.seed << ", random cotangents\n"
      << "method     central differences, h " << (report.step > 0.0 ? report.step : kRelativeStep)
      << (report.step > 0.0 ? "" : "*max(1,|x|)") << " and 2h, extrapolated\n"
      << "work       " << elements << " elements, " << report.evaluations << " evaluations"
      << (report.bit_identical ? "; 2 backward runs bit-identical\n" : "\n");
  if (!report.inputs.empty()) print_table(out, report);
  for (const std::string& remark : report.remarks) out << "note  " << remark << "\n";
  print_verdict(out, report);
  return out;
}

GradcheckReport gradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  check_options(options, inputs.size());
  const EnableGrad grad;
  const DefaultStream stream;
  GradcheckReport report = empty_report(options);
  note_repeated_inputs(inputs, options, report);
  Trial(function, inputs, options, 1, report).run();
  if (options.order == 2 && report) check_second_order(function, inputs, options, report);
  return report;
}

GradcheckReport gradgradcheck(const GradcheckFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  check_options(options, inputs.size());
  const EnableGrad grad;
  const DefaultStream stream;
  GradcheckReport report = empty_report(options);
  note_repeated_inputs(inputs, options, report);
  check_second_order(function, inputs, options, report);
  return report;
}

}  // namespace gradus
