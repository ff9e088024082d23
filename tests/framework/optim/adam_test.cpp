// Adam and AdamW: against PyTorch's runs, its formula step by step, and what other libraries got
// wrong.
#include "framework/optim/adam.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/autograd/node.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/support/catch.h"
#include "tests/support/goldens.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

AdamOptions options_from(const GoldenCase& golden) {
  return {.lr = golden.attrs.at("lr"),
          .beta1 = golden.attrs.at("betas").at(0),
          .beta2 = golden.attrs.at("betas").at(1),
          .eps = golden.attrs.at("eps"),
          .weight_decay = golden.attrs.at("weight_decay"),
          .amsgrad = golden.attrs.value("amsgrad", false)};
}

/// One step of Adam, or of AdamW, from theta, with this gradient.
template <class Optimizer = Adam>
Tensor stepped(double theta, double gradient, const AdamOptions& options, DType dtype = float64) {
  Tensor parameter = leaf({theta}, dtype);
  Optimizer adam({parameter}, options);
  parameter.set_grad(tensor({gradient}, dtype));
  adam.step();
  return parameter.detach();
}

/// Adam as its paper writes it (algorithm 1), with L2 decay, or with that of AdamW, for one number.
class ByHand {
 public:
  ByHand(double theta, const AdamOptions& options, bool decoupled = false)
      : theta_(theta), options_(options), decoupled_(decoupled) {}

  double step(double gradient) {
    const auto& [lr, beta1, beta2, eps, given_decay, amsgrad] = options_;
    const double weight_decay = given_decay.value_or(decoupled_ ? 0.01 : 0.0);
    ++t_;
    if (decoupled_) theta_ -= lr * weight_decay * theta_;
    const double g = decoupled_ ? gradient : gradient + weight_decay * theta_;
    m_ = beta1 * m_ + (1 - beta1) * g;
    v_ = beta2 * v_ + (1 - beta2) * g * g;
    const double m_hat = m_ / (1 - std::pow(beta1, t_));
    largest_ = std::max(largest_, v_);
    const double v_hat = (amsgrad ? largest_ : v_) / (1 - std::pow(beta2, t_));
    theta_ -= lr * m_hat / (std::sqrt(v_hat) + eps);
    return theta_;
  }

 private:
  double theta_;
  AdamOptions options_;
  bool decoupled_;
  double m_ = 0.0;
  double v_ = 0.0;
  double largest_ = 0.0;
  int t_ = 0;
};

/// The number of the newest step on any tape.
std::uint64_t newest_step() { return leaf({0}).impl().node->sequence(); }

}  // namespace

TEST_CASE("Adam fed PyTorch's gradients takes PyTorch's path", "[adam]") {
  int checked = 0;
  for (GoldenCase& golden : read_manifest(goldens_folder("torch"))) {
    if (golden.family != "adam") continue;
    load(golden);
    INFO(golden.name);
    std::vector<Tensor> parameters;
    for (const std::string& name : golden.param_names) {
      parameters.push_back(golden.params.at(name).clone().requires_grad_());
    }
    Adam adam(parameters, options_from(golden));
    const Index steps = golden.attrs.at("steps");
    for (Index t = 0; t < steps; ++t) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].set_grad(golden.outputs.at("grads." + golden.param_names[i])[t]);
      }
      adam.step();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        INFO("step " << t << " of " << golden.param_names[i]);
        CHECK_THAT(
            parameters[i],
            IsCloseTo(golden.outputs.at("traj." + golden.param_names[i])[t + 1], golden.tolerance));
      }
    }
    ++checked;
  }
  CHECK(checked == 4);
}

TEST_CASE("Adam with the tape's own gradients takes PyTorch's path", "[adam]") {
  for (GoldenCase& golden : read_manifest(goldens_folder("torch"))) {
    if (golden.name != "adam_default_f64" && golden.name != "adam_betas_eps_f64") continue;
    load(golden);
    INFO(golden.name);
    Tensor w = golden.params.at("w").clone().requires_grad_();
    Adam adam({w}, options_from(golden));
    for (Index t = 0; t <= 20; ++t) {
      const Tensor residual = matmul(golden.inputs.at("A"), w) - golden.inputs.at("b");
      const Tensor loss = 0.5 * sum(residual * residual) + 0.3 * sum(tanh(w * w));
      INFO("step " << t);
      CHECK_THAT(loss, IsCloseTo(golden.outputs.at("loss")[t], golden.tolerance));
      adam.zero_grad();
      loss.backward();
      adam.step();
    }
  }
}

TEST_CASE("Adam is the formula of its paper, decay included", "[adam]") {
  const AdamOptions all[] = {{},
                             {.lr = 0.1, .weight_decay = 0.1},
                             {.lr = 0.1, .beta2 = 0.5, .weight_decay = 0.1, .amsgrad = true},
                             {.lr = 0.05, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.01},
                             {.lr = 0.2, .beta1 = 0.0, .beta2 = 0.0, .weight_decay = 1.0}};
  for (const bool decoupled : {false, true}) {
    for (const AdamOptions& options : all) {
      INFO("lr " << options.lr << ", decay " << options.weight_decay.value_or(-1) << ", decoupled "
                 << decoupled);
      Tensor theta = leaf({{1.0, -2.0, 0.25}});
      ByHand by_hand[] = {
          {1.0, options, decoupled}, {-2.0, options, decoupled}, {0.25, options, decoupled}};
      std::unique_ptr<Adam> adam = decoupled ? std::make_unique<AdamW>(std::vector{theta}, options)
                                             : std::make_unique<Adam>(std::vector{theta}, options);
      for (std::uint64_t t = 1; t <= 10; ++t) {
        const Tensor gradient = random_normal({1, 3}, t);
        theta.set_grad(gradient);
        adam->step();
        for (Index i = 0; i < 3; ++i) {
          CHECK(theta.at({0, i}) ==
                Catch::Approx(by_hand[i].step(gradient.at({0, i}))).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("C094: AdamW's decay is decoupled, Adam's is an L2 penalty", "[adam][cases]") {
  const AdamOptions options{.lr = 0.1, .weight_decay = 0.1};
  CHECK_THAT(stepped<AdamW>(1, 0, options), HasValues({0.99}));
  CHECK_THAT(stepped(1, 0, options), HasValues({0.9}, Tolerance{1e-6, 0}));
  // The decay takes the parameter before the update: 1 - lr wd - lr, not (1 - lr)(1 - lr wd).
  CHECK_THAT(stepped<AdamW>(1, 1, options), HasValues({0.89}, Tolerance{1e-7, 0}));
  CHECK_THAT(stepped<AdamW>(1, 0, options, float32), HasValues({0.99}));
}

TEST_CASE("AdamW starts from PyTorch's decay", "[adam]") {
  Tensor theta = leaf({1});
  AdamW adam({theta});
  theta.set_grad(tensor({0}, float64));
  adam.step();
  CHECK(adam.lr() == 1e-3);
  CHECK_THAT(theta, HasValues({1 - 1e-3 * 1e-2}, exactly));
}

TEST_CASE("Adam's amsgrad remembers the largest second moment", "[adam]") {
  Tensor plain = leaf({0});
  Tensor remembering = leaf({0});
  Adam first({plain}, {.lr = 0.1, .beta1 = 0, .beta2 = 0.5});
  Adam second({remembering}, {.lr = 0.1, .beta1 = 0, .beta2 = 0.5, .amsgrad = true});
  for (const double gradient : {8.0, 1.0, 1.0, 1.0}) {
    for (const Tensor& theta : {plain, remembering}) theta.set_grad(tensor({gradient}, float64));
    first.step();
    second.step();
  }
  // v: 32, 16.5, 8.75, 4.875, over 1 - 0.5^t; the steps of amsgrad go on with 32.
  const auto step = [](double g, double v, double t) {
    return 0.1 * g / std::sqrt(v / (1 - std::pow(0.5, t)));
  };
  CHECK_THAT(plain,
             HasValues({-step(8, 32, 1) - step(1, 16.5, 2) - step(1, 8.75, 3) - step(1, 4.875, 4)},
                       Tolerance{1e-7, 0}));
  CHECK_THAT(remembering,
             HasValues({-step(8, 32, 1) - step(1, 32, 2) - step(1, 32, 3) - step(1, 32, 4)},
                       Tolerance{1e-7, 0}));
}

TEST_CASE("C093: Adam adds epsilon after correcting for the start", "[adam][cases]") {
  for (const DType dtype : {float32, float64}) {
    const Tolerance close{dtype == float64 ? 1e-9 : 1e-5, 0.0};
    CHECK_THAT(stepped(0, 1e-8, {}, dtype), HasValues({-5.0e-4}, close));
    CHECK_THAT(stepped(0, 1, {}, dtype), HasValues({-1e-3}, Tolerance{1e-5, 0}));
    CHECK_THAT(stepped(0, -1, {}, dtype), HasValues({1e-3}, Tolerance{1e-5, 0}));
  }
}

TEST_CASE("C094: Adam's decay is an L2 penalty, and so takes a whole step", "[adam][cases]") {
  CHECK_THAT(stepped(1, 0, {.lr = 0.1, .weight_decay = 0.1}), HasValues({0.9}, Tolerance{1e-6, 0}));
  CHECK_THAT(stepped(1, 0, {.lr = 0.1}), HasValues({1}, exactly));
}

TEST_CASE("C096: a parameter listed twice is stepped once by Adam", "[adam][cases]") {
  Tensor theta = leaf({1});
  Adam adam({theta, theta}, {.lr = 0.1});
  theta.set_grad(tensor({1}, float64));
  adam.step();
  CHECK_THAT(theta, HasValues({0.9}, Tolerance{1e-6, 0}));
}

TEST_CASE("C072: a step of Adam leaves nothing on the tape", "[adam][cases]") {
  Tensor w = leaf({1, 2});
  const Tensor handle = w;
  Adam adam({w}, {.lr = 0.1});
  (w * w).sum().backward();
  const std::uint64_t before = newest_step();
  for (int i = 0; i < 100; ++i) adam.step();
  CHECK(newest_step() == before + 1);
  CHECK(w.is_leaf());
  CHECK(w.is_same(handle));
  CHECK(w.requires_grad());
  CHECK_THAT(w.grad(), HasValues({2, 4}, exactly));
  CHECK(adam.parameters()[0].is_same(w));
}

TEST_CASE("a step of Adam changes its parameters in place, and the tape notices", "[adam]") {
  Tensor w = leaf({1, 2});
  const Tensor loss = (w * w).sum();
  Adam adam({w});
  w.set_grad(tensor({1, 1}, float64));
  adam.step();
  CHECK_THAT(w, HasValues({0.999, 1.999}, Tolerance{1e-6, 0}));
  CHECK(error_text<AutogradError>([&] { loss.backward(); }).find("changed by optimizer step") !=
        std::string::npos);
}

TEST_CASE("Adam leaves a parameter without gradient, and one frozen since, as they are", "[adam]") {
  Tensor used = leaf({1, 2});
  Tensor unused = leaf({3, 4});
  Tensor frozen = leaf({5});
  Adam adam({used, unused, frozen}, {.lr = 0.1, .weight_decay = 0.5});
  frozen.requires_grad_(false);
  for (int i = 0; i < 3; ++i) {
    adam.zero_grad();
    used.sum().backward();
    adam.step();
  }
  CHECK_THAT(unused, HasValues({3, 4}, exactly));
  CHECK_THAT(frozen, HasValues({5}, exactly));
  CHECK(used.at({0}) < 0.8);
}

TEST_CASE("Adam corrects each parameter's start, whenever it gets its first gradient", "[adam]") {
  Tensor early = leaf({0});
  Tensor late = leaf({0});
  Adam adam({early, late}, {.lr = 0.1});
  for (int t = 0; t < 5; ++t) {
    early.set_grad(tensor({1}, float64));
    adam.step();
  }
  late.set_grad(tensor({1}, float64));
  adam.step();
  CHECK_THAT(late, HasValues({-0.1}, Tolerance{1e-6, 0}));  // a whole step, as torch.optim.Adam
}

TEST_CASE("Adam steps parameters and gradients of any strides", "[adam]") {
  const Tensor gradient = tensor({{1, -1, 1}, {-1, 1, -1}}, float64);
  const auto check = [&](Tensor parameter, const Tensor& given) {
    const Tensor before = parameter.detach().clone();
    parameter.requires_grad_();
    Adam adam({parameter}, {.lr = 0.1});
    parameter.set_grad(given);
    adam.step();
    CHECK_THAT(parameter, IsCloseTo(before - 0.1 * gradient, Tolerance{1e-6, 0}));
  };
  const Tensor numbers = random_normal({2, 3}, 1);
  check(numbers.clone(), stored_transposed(gradient));
  check(stored_transposed(numbers), gradient);
  const Tensor wide = random_normal({2, 5}, 2);
  const Tensor rest = wide.slice(1, 3).clone();
  check(wide.slice(1, 0, 3), gradient);
  CHECK_THAT(wide.slice(1, 3), IsCloseTo(rest, exactly));  // beside the parameter nothing moves
}

TEST_CASE("Adam's rate may change between steps", "[adam]") {
  Tensor theta = leaf({0});
  Adam adam({theta}, {.lr = 0.1});
  CHECK(adam.lr() == 0.1);
  theta.set_grad(tensor({1}, float64));
  adam.step();
  adam.set_lr(0.01);
  CHECK(adam.lr() == 0.01);
  adam.step();
  CHECK_THAT(theta, HasValues({-0.11}, Tolerance{1e-6, 0}));
}

TEST_CASE("Adam takes a parameter without elements", "[adam]") {
  Tensor empty = zeros({0, 3}, float64).requires_grad_();
  Adam adam({empty});
  empty.set_grad(zeros({0, 3}, float64));
  adam.step();
  CHECK(empty.shape() == Shape{0, 3});
}

TEST_CASE("Adam refuses options outside their range", "[adam][errors]") {
  const auto refused = [](const AdamOptions& options) {
    return error_text<ValueError>([&] { Adam({leaf({1})}, options); });
  };
  const std::string first = "Adam: an option is outside its range\n  got    ";
  const std::string need = "\n  need   betas in [0, 1), the others at least 0";
  CHECK(refused({.lr = -1}) == "optimizer: needs an lr of at least 0, not -1");
  CHECK(refused({.weight_decay = -1}) ==
        first + "lr 0.001, beta1 0.9, beta2 0.999, eps 1e-08, weight_decay -1" + need);
  CHECK(refused({.beta1 = 1}) ==
        first + "lr 0.001, beta1 1, beta2 0.999, eps 1e-08, weight_decay 0" + need);
  CHECK(refused({.beta1 = -0.1}).starts_with(first));
  CHECK(refused({.beta2 = 1}).starts_with(first));
  CHECK(refused({.beta2 = -0.1}).starts_with(first));
  CHECK(refused({.eps = -1e-8}).starts_with(first));
  CHECK(refused({.lr = kNaN}) == "optimizer: needs an lr of at least 0, not nan");
  CHECK(refused({.eps = kNaN}).starts_with(first));
  CHECK(refused({.lr = 0, .beta1 = 0, .beta2 = 0, .eps = 0}) == "no error");
  CHECK(error_text<ValueError>([] { AdamW({leaf({1})}, {.beta2 = 1}); }) ==
        "AdamW: an option is outside its range\n"
        "  got    lr 0.001, beta1 0.9, beta2 1, eps 1e-08, weight_decay 0.01" +
            need);
}

TEST_CASE("AdamW decays by 0.01 unless told otherwise, and Adam not at all") {
  const auto after_a_step = [](auto make) {
    const Tensor theta = leaf({1});
    auto optimizer = make(theta);
    theta.set_grad(tensor({0}, float64));
    optimizer.step();
    return theta.detach();
  };
  const auto adamw = [](const AdamOptions& options) {
    return [options](const Tensor& theta) { return AdamW({theta}, options); };
  };
  const auto adam = [](const Tensor& theta) { return Adam({theta}, {.lr = 0.1}); };
  CHECK_THAT(after_a_step(adamw({.lr = 0.1})), HasValues({0.999}));
  CHECK_THAT(after_a_step(adamw({.lr = 0.1, .weight_decay = 0.0})), HasValues({1}));
  CHECK_THAT(after_a_step(adam), HasValues({1}));
}
