// Runs the instances of a family: one stream of random numbers each, made of the seed, the family
// and the instance's number, so that every instance can be drawn again alone.
#include "tests/properties/properties.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "framework/core/error.h"
#include "framework/gradcheck/gradcheck.h"

namespace gradus::testing {
namespace {

using reference::Array;

constexpr std::uint64_t kUsualSeed = 20240229;
constexpr Index kAllInstances = 20000;
constexpr Index kFewInstances = 4000;

#if defined(__has_feature)
#define GRADUS_HAS_FEATURE(name) __has_feature(name)
#else
#define GRADUS_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__) || \
    GRADUS_HAS_FEATURE(address_sanitizer) || GRADUS_HAS_FEATURE(thread_sanitizer)
constexpr bool kSlowBuild = true;
#else
constexpr bool kSlowBuild = false;
#endif

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::uint64_t seed() {
  const std::string given = variable("GRADUS_PROPERTY_SEED");
  return given.empty() ? kUsualSeed : std::stoull(given);
}

Index instances_in_all() {
  const std::string given = variable("GRADUS_PROPERTY_INSTANCES");
  if (!given.empty()) return std::stoll(given);
  return kSlowBuild ? kFewInstances : kAllInstances;
}

std::vector<const Family*>& registry() {
  static std::vector<const Family*> families;
  return families;
}

/// A seed for one instance: neighbours' streams have nothing in common (FNV-1a).
std::uint64_t seed_of(const std::string& name) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed();
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  return hash;
}

double largest_finite(const Array& array) {
  double largest = 0.0;
  for (const double value : array.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

bool all_finite(const Array& array) {
  return std::all_of(array.values.begin(), array.values.end(),
                     [](double value) { return std::isfinite(value); });
}

/// What is wrong with a result, or "". Floats may differ by a part of the largest, or of 1.
std::string difference(const Tensor& got, const Array& want, DType dtype) {
  if (!(got.shape() == want.shape)) return text("shape ", got.shape(), ", wanted ", want.shape);
  if (got.dtype() != dtype) return text("dtype ", got.dtype(), ", wanted ", dtype);
  const double part = dtype == float64 ? 1e-12 : dtype == float32 ? 1e-5 : 0.0;
  const double limit = part * std::max(1.0, largest_finite(want));
  const Array numbers = read(got);
  for (const Shape& place : reference::places(want.shape)) {
    const double a = numbers[place];
    const double b = want[place];
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= limit) continue;
    return text("element ", place, " is ", a, ", wanted ", b, ", off by ", std::fabs(a - b));
  }
  return "";
}

/// The same handles, each on the tape as far as its dtype allows.
Tensors on_tape(const Tensors& inputs) {
  Tensors leaves;
  for (const Tensor& input : inputs) {
    leaves.push_back(input.detach());
    if (is_floating(input.dtype())) leaves.back().requires_grad_();
  }
  return leaves;
}

std::string value_fault(const Instance& instance, bool recorded) {
  Tensors inputs;
  for (const Input& input : instance.inputs()) inputs.push_back(input.tensor);
  const Tensors outputs = instance.function(recorded ? on_tape(inputs) : inputs);
  if (outputs.size() != instance.wanted().size())
    return text(outputs.size(), " results, wanted ", instance.wanted().size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [want, dtype] = instance.wanted()[i];
    const std::string fault = difference(outputs[i], want, dtype);
    if (!fault.empty()) return text("result ", i, ": ", fault);
  }
  for (const Input& input : instance.inputs()) {
    if (!difference(input.tensor, input.array, input.dtype()).empty())
      return "an input was changed";
  }
  return "";
}

/// Elements that would have to be moved for a gradient check, or none where there is nothing to
/// check: float32, no floating result, a value that is not finite, or no elements.
std::optional<Index> elements_to_check(const Instance& instance) {
  Index moved = 0;
  for (const Input& input : instance.inputs()) {
    if (input.dtype() == float32 || !all_finite(input.array)) return {};
    if (input.dtype() == float64) moved += input.base.numel();
  }
  bool has_result = false;
  for (const auto& [want, dtype] : instance.wanted()) {
    if (!all_finite(want)) return {};
    has_result = has_result || (dtype == float64 && !want.values.empty());
  }
  if (!instance.smooth || !has_result || moved == 0) return {};
  return moved;
}

/// An expanded input overlaps itself, so the differences move what it was expanded from.
std::string gradient_fault(const Instance& instance, int order) {
  Tensors bases;
  for (const Input& input : instance.inputs()) bases.push_back(input.base);
  const auto function = [&instance](const Tensors& given) {
    Tensors inputs;
    for (std::size_t i = 0; i < given.size(); ++i)
      inputs.push_back(given[i].expand(instance.inputs()[i].shape()));
    return instance.function(inputs);
  };
  const GradcheckReport report = gradcheck(function, bases, {.order = order});
  // Some instances are constant, such as softmax over an axis of one; zeros are then right.
  const auto counts = [](const std::string& failure) {
    return failure.find("vacuous") == failure.npos;
  };
  const bool passed =
      std::none_of(report.failures.begin(), report.failures.end(), counts) &&
      std::all_of(report.inputs.begin(), report.inputs.end(), [](auto& row) { return row.passed; });
  return passed ? "" : text("gradients to order ", order, ":\n", report);
}

/// What one instance tells.
struct Outcome {
  std::string fault{};
  int order = 0;  ///< of the gradients checked; 0 for none
};

Outcome outcome_of(const Instance& instance, Random& random) {
  constexpr Index kMostForFirst = 100;
  constexpr Index kMostForSecond = 36;
  Outcome outcome;
  const bool recorded = random.chance(0.5);
  const bool second = random.chance(0.5);
  try {
    outcome.fault = value_fault(instance, recorded);
    const std::optional<Index> elements = elements_to_check(instance);
    if (!outcome.fault.empty() || !elements || *elements > kMostForFirst) return outcome;
    outcome.order = second && *elements <= kMostForSecond ? 2 : 1;
    outcome.fault = gradient_fault(instance, outcome.order);
  } catch (const std::exception& error) {
    outcome.fault = text("threw: ", error.what());
  }
  return outcome;
}

std::string described(const std::string& name, const std::string& op, const Instance& instance) {
  std::string result = text("GRADUS_PROPERTY_SEED=", seed(), " GRADUS_PROPERTY_ONLY='", name, "'\n",
                            op, instance.how.empty() ? "" : ", ", instance.how);
  for (const Input& input : instance.inputs()) result += text("\n  ", layout_of(input.tensor));
  return result;
}

}  // namespace

Input Instance::add(const Input& input) {
  inputs_.push_back(input);
  return input;
}

void Instance::expect(Array want, DType dtype) { wanted_.emplace_back(std::move(want), dtype); }

Family::Family(std::string name, Index share, std::vector<Property> properties)
    : name_(std::move(name)), share_(share), properties_(std::move(properties)) {
  registry().push_back(this);
}

Index Family::instances() const {
  return (share_ * instances_in_all() + kAllInstances - 1) / kAllInstances;
}

void Family::check() const {
  constexpr Index kMostFaults = 5;
  const std::string only = variable("GRADUS_PROPERTY_ONLY");
  Index first = 0;
  Index last = instances();
  if (!only.empty()) {
    if (!only.starts_with(name_ + "/")) return;
    first = std::stoll(only.substr(name_.size() + 1));
    last = first + 1;
  }
  Index faults = 0;
  std::array<Index, 3> checked_to_order{};
  for (Index n = first; n < last; ++n) {
    const std::string name = text(name_, "/", n);
    const Property& property = properties_[static_cast<std::size_t>(n) % properties_.size()];
    Random random(seed_of(name));
    const Instance instance = property.draw(random);
    INFO(described(name, property.op, instance));  // also where the process dies of it
    const Outcome outcome = outcome_of(instance, random);
    ++checked_to_order[static_cast<std::size_t>(outcome.order)];
    if (!outcome.fault.empty() && ++faults <= kMostFaults) FAIL_CHECK(outcome.fault);
  }
  std::cout << text("properties: ", name_, ": ", last - first, " instances of ", properties_.size(),
                    " ops, ", checked_to_order[1] + checked_to_order[2], " with gradients, ",
                    checked_to_order[2], " of these to second order; seed ", seed(), "\n")
            << std::flush;
  INFO("instances that failed, of which at most " << kMostFaults << " are shown");
  CHECK(faults == 0);
}

std::vector<const Family*> all_families() {
  std::vector<const Family*> families = registry();
  std::sort(families.begin(), families.end(),
            [](const Family* a, const Family* b) { return a->name() < b->name(); });
  return families;
}

}  // namespace gradus::testing

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("properties: the families hold 20,000 instances") {
  Index shares = 0;
  std::string summary;
  for (const Family* family : all_families()) {
    shares += family->share();
    summary += text(summary.empty() ? "" : ", ", family->name(), " ", family->instances());
  }
  std::cout << "properties: seed " << seed() << "; instances: " << summary << "\n"
            << (instances_in_all() == kAllInstances
                    ? ""
                    : "properties: fewer than 20,000 instances, for GRADUS_PROPERTY_INSTANCES, "
                      "sanitizers or a build without optimisation\n");
  CHECK(shares == kAllInstances);
}
