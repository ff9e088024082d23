// Goldens of PyTorch: runs of optimisers, clipped gradients, and learning rates step by step.
#include <cmath>
#include <memory>

#include "framework/ops/arithmetic.h"
#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "framework/optim/adam.h"
#include "framework/optim/clip.h"
#include "framework/optim/schedule.h"
#include "framework/optim/sgd.h"
#include "tests/goldens_torch/torch_case.h"

namespace gradus::testing {
namespace {

using Json = nlohmann::json;

std::unique_ptr<Optimizer> optimizer_from(const GoldenCase& golden,
                                          const std::vector<Tensor>& parameters) {
  const Json& attrs = golden.attrs;
  if (golden.op == "SGD") {
    return std::make_unique<SGD>(parameters,
                                 SGDOptions{.lr = attrs.at("lr"),
                                            .momentum = attrs.value("momentum", 0.0),
                                            .dampening = attrs.value("dampening", 0.0),
                                            .weight_decay = attrs.value("weight_decay", 0.0),
                                            .nesterov = attrs.value("nesterov", false)});
  }
  const AdamOptions options{.lr = attrs.at("lr"),
                            .beta1 = attrs.at("betas").at(0),
                            .beta2 = attrs.at("betas").at(1),
                            .eps = attrs.at("eps"),
                            .weight_decay = attrs.at("weight_decay"),
                            .amsgrad = attrs.value("amsgrad", false)};
  if (golden.op == "AdamW") return std::make_unique<AdamW>(parameters, options);
  return std::make_unique<Adam>(parameters, options);
}

Tensor objective_of(const GoldenCase& golden, const NamedTensors& w) {
  const std::string formula = golden.attrs.at("objective");
  const auto in = [&golden](const char* name) { return golden.inputs.at(name); };
  if (formula == "0.5*sum((A@w - b)^2) + 0.3*sum(tanh(w*w))") {
    const Tensor& x = w.at("w");
    return 0.5 * sum(square(matmul(in("A"), x) - in("b"))) + 0.3 * sum(tanh(x * x));
  }
  if (formula == "mean((tanh(X@W1 + b1)@W2 - Y)^2) + 0.05*sum(W2*W2)") {
    const Tensor hidden = tanh(matmul(in("X"), w.at("W1")) + w.at("b1"));
    return mean(square(matmul(hidden, w.at("W2")) - in("Y"))) + 0.05 * sum(square(w.at("W2")));
  }
  throw std::runtime_error("an objective that this test does not know: " + formula);
}

/// The factor of the learning rate, by the formula that the case gives in words.
Schedule factor_of(const Json& attrs) {
  if (!attrs.contains("lr_schedule")) return schedule::constant();
  if (attrs.at("lr_schedule") != "factor(t) = (t+1)/5 for t < 5, else 0.5*(1+cos(pi*(t-5)/15))") {
    throw std::runtime_error("a schedule that this test does not know");
  }
  return schedule::then(schedule::linear_warmup(5), 5, schedule::cosine(15));
}

/// One run of the optimiser: on the case's gradients, or on those of the objective.
class Run {
 public:
  Run(const GoldenCase& golden, bool fed) : golden_(golden), fed_(fed) {
    for (const std::string& name : golden.param_names) {
      parameters_[name] = golden.params.at(name).clone().requires_grad_();
      in_order_.push_back(parameters_[name]);
    }
    optimizer_ = optimizer_from(golden, in_order_);
  }

  void to_the_end(Findings& findings) {
    const Index steps = golden_.attrs.at("steps");
    const double base = golden_.attrs.at("lr");
    const Schedule factor = factor_of(golden_.attrs);
    watch();
    for (Index t = 0; t < steps; ++t) {
      optimizer_->set_lr(base * factor(t));
      rates_.push_back(optimizer_->lr());
      take_gradients(t);
      if (golden_.attrs.contains("clip_grad_norm")) {
        clip_grad_norm_(in_order_, golden_.attrs.at("clip_grad_norm"));
      }
      optimizer_->step();
      watch();
    }
    report(findings);
  }

 private:
  void watch() {
    losses_.push_back(objective_of(golden_, parameters_).detach());
    for (const auto& [name, parameter] : parameters_) {
      paths_[name].push_back(parameter.detach().clone());
    }
  }

  void take_gradients(Index t) {
    optimizer_->zero_grad();
    if (!fed_) objective_of(golden_, parameters_).backward();
    for (const auto& [name, parameter] : parameters_) {
      if (fed_) parameter.set_grad(golden_.outputs.at("grads." + name)[t].clone());
      gradients_[name].push_back(parameter.grad().clone());  // clipping changes it in place
    }
  }

  void report(Findings& findings) const {
    const std::string how = fed_ ? "fed with gradients: " : "on its own: ";
    findings.compare(how + "loss", stack(losses_), golden_.outputs.at("loss"));
    for (const std::string& name : golden_.param_names) {
      findings.compare(how + "path of " + name, stack(paths_.at(name)),
                       golden_.outputs.at("traj." + name));
      findings.compare(how + "gradients of " + name, stack(gradients_.at(name)),
                       golden_.outputs.at("grads." + name));
    }
    const auto rates = golden_.outputs.find("lr");
    if (rates != golden_.outputs.end()) {
      findings.compare(how + "lr", from_vector(rates_), rates->second);
    }
  }

  const GoldenCase& golden_;
  bool fed_;
  NamedTensors parameters_;
  std::vector<Tensor> in_order_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Tensor> losses_;
  std::vector<double> rates_;
  std::map<std::string, std::vector<Tensor>> paths_;
  std::map<std::string, std::vector<Tensor>> gradients_;
};

/// The schedules that a student writes as a lambda, and those that Gradus has.
Schedule schedule_from(const GoldenCase& golden) {
  const Json& attrs = golden.attrs;
  const std::string formula = attrs.at("formula");
  if (golden.op == "CosineAnnealingLR") {
    const double floor = attrs.at("eta_min").get<double>() / attrs.at("base_lr").get<double>();
    return schedule::cosine(attrs.at("T_max"), floor);
  }
  if (golden.op == "StepLR") return schedule::step(attrs.at("step_size"), attrs.at("gamma"));
  if (golden.op == "ExponentialLR") return schedule::step(1, attrs.at("gamma"));
  const Index warmup = attrs.at("warmup_steps");
  if (formula == "base_lr * min(1, (t+1)/warmup)") return schedule::linear_warmup(warmup);
  if (formula.starts_with("base_lr * ((t+1)/warmup if t < warmup else min_ratio")) {
    const Index total = attrs.at("total_steps");
    return schedule::then(schedule::linear_warmup(warmup), warmup,
                          schedule::cosine(total - warmup, attrs.at("min_ratio")));
  }
  const auto w = static_cast<double>(warmup);
  if (formula == "base_lr * (t/warmup if t < warmup else sqrt(warmup/t))") {
    return [w](Index step) {
      const auto t = static_cast<double>(step);
      return t < w ? t / w : std::sqrt(w / t);
    };
  }
  if (formula == "base_lr * d_model^-0.5 * min((t+1)^-0.5, (t+1)*warmup^-1.5)") {
    return [w, d = attrs.at("d_model").get<double>()](Index step) {
      const auto t = static_cast<double>(step + 1);
      return std::min(1 / std::sqrt(t), t * std::pow(w, -1.5)) / std::sqrt(d);
    };
  }
  throw std::runtime_error("a schedule that this test does not know: " + formula);
}

}  // namespace

void run_optimizer(const GoldenCase& golden, Findings& findings) {
  for (const bool fed : {true, false}) Run(golden, fed).to_the_end(findings);
}

void run_clipping(const GoldenCase& golden, Findings& findings) {
  std::vector<Tensor> parameters;
  for (const std::string& name : golden.input_names) {
    const Tensor& gradient = golden.inputs.at(name);
    parameters.push_back(zeros_like(gradient).requires_grad_());
    parameters.back().set_grad(gradient.clone());
  }
  if (golden.op == "clip_grad_value_") {
    clip_grad_value_(parameters, number_from(golden.attrs.at("clip_value")));
  } else {
    const double norm = clip_grad_norm_(parameters, number_from(golden.attrs.at("max_norm")),
                                        number_from(golden.attrs.at("norm_type")));
    findings.compare("total_norm", full({}, norm, float64), golden.outputs.at("total_norm"));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string name = "clipped." + golden.input_names[i];
    findings.compare(name, parameters[i].grad(), golden.outputs.at(name));
  }
}

void run_schedule(const GoldenCase& golden, Findings& findings) {
  const double base = golden.attrs.at("base_lr");
  const Schedule factor = schedule_from(golden);
  std::vector<double> rates;
  for (Index t = 0; t < golden.attrs.at("steps").get<Index>(); ++t) {
    rates.push_back(base * factor(t));
  }
  findings.compare("lr", from_vector(rates), golden.outputs.at("lr"));
}

}  // namespace gradus::testing
