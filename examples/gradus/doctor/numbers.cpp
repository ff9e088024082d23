#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "examples/gradus/doctor/finding.h"
#include "examples/support/format.h"
#include "framework/core/error.h"
#include "framework/core/random.h"
#include "framework/gradcheck/gradcheck.h"
#include "framework/kernels/table.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr const char* kReport = "please report this, with all that is printed here";

/// Well, or a fault that nobody can cure from outside.
Finding judged(const std::string& topic, bool is_well, const std::string& found) {
  return {topic, is_well ? Verdict::well : Verdict::fault, found, is_well ? "" : kReport};
}

Finding known_softmax() {
  const Tensor y = softmax(tensor({1, 2, 3}), -1);
  const bool is_right = allclose(y, tensor({0.09003057, 0.24472847, 0.66524096}), 0.0, 1e-6);
  return judged("softmax", is_right,
                format("of (1, 2, 3) is (%.4f, %.4f, %.4f)", y.at({0}), y.at({1}), y.at({2})));
}

Finding known_draws() {
  Generator generator(42);
  const Tensor x = randn({3}, float32, &generator);
  const bool is_right = allclose(x, tensor({0.33669037, 0.12880941, 0.23446237}), 0.0, 1e-6);
  return judged("random", is_right,
                format("seed 42 draws %.4f, %.4f, %.4f", x.at({0}), x.at({1}), x.at({2})));
}

Finding attention_gradients() {
  Generator generator(1);
  const Tensor x = randn({2, 4, 8}, float64, &generator);
  const auto function = [](const Tensor& query, const Tensor& key) {
    return softmax(matmul(query, key.transpose(-2, -1)) / std::sqrt(8.0), -1);
  };
  const GradcheckReport report = gradcheck(function, {x, x.clone()}, {.order = 2});
  double worst = 0.0;
  for (const GradcheckInput& input : report.inputs) worst = std::max(worst, input.max_rel_error);
  return judged("gradients", report.passed(),
                format("of attention weights, both orders: largest relative error %.1e", worst));
}

/// A product (rows, inner) by (inner, columns), by the kernels of one instruction set.
Tensor product(const kernels::Table& table, const Tensor& a, const Tensor& b) {
  const Tensor out = zeros({a.size(0), b.size(1)}, a.dtype());
  const kernels::Matrices left{a.raw(), nullptr, a.size(1), 1};
  const kernels::Matrices right{b.raw(), nullptr, b.size(1), 1};
  table.matmul(a.dtype(), {0, nullptr, a.size(0), b.size(1), a.size(1)}, out.raw(), left, right,
               {});
  return out;
}

Finding all_kernels() {
  Generator generator(2);
  const Tensor a = randn({37, 65}, float32, &generator);
  const Tensor b = randn({65, 41}, float32, &generator);
  const auto tables = kernels::usable_tables();
  if (tables.size() == 1) return judged("products", true, "baseline alone: nothing to compare");
  const Tensor wanted = product(*tables.back(), a, b);
  std::string names;
  double farthest = 0.0;
  for (const kernels::Table* table : tables) {
    names += names.empty() ? table->isa : text(", ", table->isa);
    farthest = std::max(farthest, abs(product(*table, a, b) - wanted).max().item());
  }
  return judged("products", farthest < 1e-4,
                text(names, format(": differ from the baseline's by %.0e at most", farthest)));
}

}  // namespace

std::vector<Finding> check_numbers() {
  return {examined("softmax", known_softmax), examined("random", known_draws),
          examined("gradients", attention_gradients), examined("products", all_kernels)};
}

}  // namespace examples
