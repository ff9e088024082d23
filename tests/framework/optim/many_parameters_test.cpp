// Optimisers and clipping take all parameters at once: each changes as it would by itself, bit for
// bit, whatever its neighbours are, and for any number of threads.
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "framework/ops/arithmetic.h"
#include "framework/optim/adam.h"
#include "framework/optim/clip.h"
#include "framework/optim/sgd.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"
#include "tests/support/thread_count.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using Maker = std::function<std::unique_ptr<Optimizer>(const ParameterGroups&)>;

struct Row {
  const char* name;
  Maker make;
};

std::vector<Row> rows() {
  return {
      {"SGD", [](const auto& p) { return std::make_unique<SGD>(p, SGDOptions{.lr = 0.1}); }},
      {"SGD with momentum",
       [](const auto& p) {
         return std::make_unique<SGD>(
             p, SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.1});
       }},
      {"Adam",
       [](const auto& p) {
         return std::make_unique<Adam>(p, AdamOptions{.lr = 0.1, .weight_decay = 0.1});
       }},
      {"AdamW with amsgrad",
       [](const auto& p) {
         return std::make_unique<AdamW>(p, AdamOptions{.lr = 0.1, .amsgrad = true});
       }},
  };
}

/// Parameters of many sizes, of both dtypes; some end within a share of a thread, some go over
/// several.
std::vector<Tensor> many_parameters() {
  const Index sizes[] = {1, 0, 7, 33000, 64, 100001, 1000, 3, 32768, 17};
  std::vector<Tensor> parameters;
  for (const Index size : sizes) {
    const auto number = static_cast<unsigned>(parameters.size());
    const DType dtype = number % 3 == 2 ? float64 : float32;
    parameters.push_back(random_normal({size}, number, dtype).requires_grad_());
  }
  return parameters;
}

/// The group of parameter i: the odd ones have another rate and decay.
ParameterGroup group_of(std::size_t i, const std::vector<Tensor>& parameters) {
  ParameterGroup group{.parameters = parameters};
  if (i % 2 == 1) {
    group.lr_factor = 0.5;
    group.weight_decay = 0.02;
  }
  return group;
}

ParameterGroups two_groups(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> halves[2];
  for (std::size_t i = 0; i < parameters.size(); ++i) halves[i % 2].push_back(parameters[i]);
  return {group_of(0, halves[0]), group_of(1, halves[1])};
}

/// Gradients for step `step`; every third parameter is without one, now and then.
void give_gradients(const std::vector<Tensor>& parameters, unsigned step) {
  for (unsigned i = 0; i < parameters.size(); ++i) {
    const Tensor& parameter = parameters[i];
    const bool has_one = i % 3 != step % 3;
    parameter.set_grad(has_one ? random_normal(parameter.shape(), 100 * step + i, parameter.dtype())
                               : Tensor());
  }
}

constexpr unsigned kSteps = 4;

std::vector<Tensor> stepped_together(const Row& row) {
  const std::vector<Tensor> parameters = many_parameters();
  const auto optimizer = row.make(two_groups(parameters));
  for (unsigned step = 0; step < kSteps; ++step) {
    give_gradients(parameters, step);
    optimizer->step();
  }
  return parameters;
}

std::vector<Tensor> stepped_apart(const Row& row) {
  const std::vector<Tensor> parameters = many_parameters();
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    optimizers.push_back(row.make({group_of(i, {parameters[i]})}));
  }
  for (unsigned step = 0; step < kSteps; ++step) {
    give_gradients(parameters, step);
    for (const auto& optimizer : optimizers) optimizer->step();
  }
  return parameters;
}

}  // namespace

TEST_CASE("many parameters are stepped as each by itself", "[optim]") {
  for (const Row& row : rows()) {
    INFO(row.name);
    const ThreadCount one(1);
    const std::vector<Tensor> want = stepped_apart(row);
    for (const int count : {1, 2, 3, 8}) {
      const ThreadCount threads(count);
      const std::vector<Tensor> got = stepped_together(row);
      for (std::size_t i = 0; i < want.size(); ++i) {
        INFO("parameter " << i << ", " << count << " threads");
        CHECK_THAT(got[i].detach(), IsCloseTo(want[i].detach(), exactly));
      }
    }
  }
}

TEST_CASE("the norm of many gradients does not depend on the number of threads", "[clip]") {
  std::vector<Tensor> parameters;
  double squares = 0;
  for (const Index size : {5, 0, 40000, 1, 100003, 32768, 9}) {
    const auto number = static_cast<unsigned>(parameters.size());
    const Tensor parameter = zeros({size}).requires_grad_();
    parameter.set_grad(random_normal({size}, number, float32));
    for (const double x : parameter.grad().to_vector<double>()) squares += x * x;
    parameters.push_back(parameter);
  }
  const ThreadCount one(1);
  const double want = clip_grad_norm_(parameters, kInf);
  CHECK(want == Catch::Approx(std::sqrt(squares)).epsilon(1e-12));
  for (const int count : {2, 3, 8}) {
    const ThreadCount threads(count);
    CHECK(clip_grad_norm_(parameters, kInf) == want);
  }
}

TEST_CASE("the norm of gradients of any strides", "[clip]") {
  const Tensor gradient = random_normal({300, 200}, 1, float32);
  const Tensor parameter = zeros({300, 200}).requires_grad_();
  parameter.set_grad(stored_transposed(gradient));
  const double norm = clip_grad_norm_({parameter}, kInf);
  parameter.set_grad(gradient);
  CHECK(norm == clip_grad_norm_({parameter}, kInf));
}
