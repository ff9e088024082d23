// What programs can do with the tape, with changes in place, optimisers and random streams.
#include <array>
#include <limits>
#include <sstream>

#include "framework/autograd/backward.h"
#include "framework/autograd/function.h"
#include "framework/autograd/tape.h"
#include "framework/autograd/trace.h"
#include "framework/core/random.h"
#include "framework/gradcheck/gradcheck.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/creation.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/optim/adam.h"
#include "framework/optim/clip.h"
#include "framework/optim/schedule.h"
#include "framework/optim/sgd.h"
#include "tests/fuzz/program.h"

namespace gradus::fuzz {
namespace {

/// A gradient for x: none, one that fits, or any tensor.
Tensor gradient_for(Program& p, const Tensor& x) {
  if (p.rarely(8)) return p.tensor();
  return p.rarely(4) || !x.defined() ? Tensor() : p.filled(x.shape(), x.dtype());
}

/// A sum of a few tensors' sums: a loss over whatever the program made.
Tensor loss_over(Program& p) {
  Tensor loss = p.floating().sum();
  for (Index i = p.below(3); i > 0; --i) {
    const Tensor next = p.floating().sum();
    loss = loss + next.to(loss.dtype());
  }
  return loss;
}

/// A hook, or a rule, that gives back what it should, or what it should not.
std::function<Tensor(const Tensor&)> answer(Program& p) {
  switch (p.below(6)) {
    case 0: return [](const Tensor&) { return Tensor(); };
    case 1: return [](const Tensor& g) { return g * 2.0; };
    case 2: return [other = p.tensor().detach()](const Tensor&) { return other; };
    case 3: return [](const Tensor& g) { return g.sum(); };
    case 4:
      return [](const Tensor& g) -> Tensor {
        throw ValueError("hook: no");
        return g;
      };
    default: return [](const Tensor& g) { return g; };
  }
}

Function function(Program& p) {
  Function::Parts parts{.name = p.rarely(8) ? "" : "fuzzed"};
  switch (p.below(6)) {
    case 0: parts.forward = [](const Inputs&) { return Tensor(); }; break;
    case 1: parts.forward = [](const Inputs& x) { return x.empty() ? Tensor() : x[0]; }; break;
    case 2:
      parts.forward = [](const Inputs& x) { return x.empty() ? Tensor() : x[0].sum(); };
      break;
    case 3:
      parts.forward = [](const Inputs& x) { return x.empty() ? Tensor() : x[0].transpose(0, -1); };
      break;
    case 4: parts.forward = [other = p.tensor()](const Inputs&) { return other; }; break;
    default: break;
  }
  for (Index i = p.below(3); i > 0; --i) {
    switch (p.below(4)) {
      case 0: parts.rules.emplace_back(); break;
      case 1: parts.rules.emplace_back([](const Vjp& v) { return v.grad() * v.output(); }); break;
      case 2: parts.rules.emplace_back([i](const Vjp& v) { return v.grad() + v.input(i); }); break;
      default: parts.rules.emplace_back([fix = answer(p)](const Vjp& v) { return fix(v.grad()); });
    }
  }
  if (p.rarely(4)) parts.saves = static_cast<Saves>(p.byte());
  return Function(std::move(parts));
}

std::unique_ptr<Optimizer> optimizer(Program& p, const std::vector<Tensor>& parameters) {
  const auto number = [&] { return p.rarely(4) ? p.number() : 0.5; };
  switch (p.below(3)) {
    case 0:
      return std::make_unique<SGD>(parameters, SGDOptions{.lr = number(),
                                                          .momentum = number(),
                                                          .dampening = p.flag() ? 0.0 : number(),
                                                          .weight_decay = number(),
                                                          .nesterov = p.flag()});
    case 1:
      return std::make_unique<Adam>(parameters, AdamOptions{.lr = number(),
                                                            .beta1 = number(),
                                                            .beta2 = number(),
                                                            .eps = number(),
                                                            .weight_decay = number(),
                                                            .amsgrad = p.flag()});
    default: return std::make_unique<AdamW>(parameters);
  }
}

Schedule schedule_of(Program& p) {
  switch (p.below(6)) {
    case 0: return schedule::constant(p.number());
    case 1: return schedule::linear_warmup(p.integer());
    case 2: return schedule::cosine(p.integer(), p.number());
    case 3: return schedule::step(p.integer(), p.number());
    case 4: return schedule::one_cycle(p.integer(), p.number(), p.number(), p.number());
    default: return schedule::then(schedule::cosine(p.integer()), p.integer(), schedule::step(3));
  }
}

constexpr Operation kOperations[] = {
    // ---- the tape ----
    {"requires_grad_", [](Program& p) { p.floating().requires_grad_(!p.rarely(8)); }},
    {"requires_grad_ of any dtype", [](Program& p) { p.tensor().requires_grad_(p.flag()); }},
    {"is_leaf and grad",
     [](Program& p) {
       const Tensor x = p.tensor();
       x.is_leaf();
       p.keep(x.grad());
     }},
    {"set_grad",
     [](Program& p) {
       const Tensor x = p.floating();
       x.set_grad(gradient_for(p, x));
     }},
    {"retain_grad", [](Program& p) { p.floating().retain_grad(); }},
    {"register_hook",
     [](Program& p) {
       const HookHandle handle = p.floating().register_hook(answer(p));
       if (p.rarely(4)) handle.remove();
     }},
    {"backward",
     [](Program& p) {
       const Tensor x = p.floating();
       x.backward({.gradient = gradient_for(p, x), .retain_graph = p.flag()});
       p.check_all();
     }},
    {"backward of a loss",
     [](Program& p) {
       loss_over(p).backward({.retain_graph = p.flag()});
       p.check_all();
     }},
    {"gradients",
     [](Program& p) {
       const std::vector<Tensor> outputs{p.floating()};
       GradientsOptions options{.create_graph = p.flag(), .retain_graph = p.flag()};
       options.allow_unused = !p.rarely(4);
       if (!p.rarely(4)) options.grad_outputs = {gradient_for(p, outputs[0])};
       p.keep(gradients(outputs, {p.floating(), p.floating()}, options));
     }},
    {"gradients of gradients",
     [](Program& p) {
       const Tensor x = p.floating();
       const std::vector<Tensor> first =
           gradients({loss_over(p)}, {x}, {.create_graph = true, .allow_unused = true});
       p.keep(first);
       p.keep(gradients({(first[0] * first[0]).sum()}, {x}, {.retain_graph = p.flag()}));
     }},
    {"gradients of several",
     [](Program& p) {
       const std::vector<Tensor> outputs = p.several();
       p.keep(gradients(outputs, p.several(),
                        {.grad_outputs = p.several(), .retain_graph = true, .allow_unused = true}));
     }},
    {"tape",
     [](Program& p) {
       const Tape tape(p.several());
       if (p.flag()) tape.retain_gradients();
       std::ostringstream out;
       out << tape << to_dot(tape);
     }},
    {"tape trace",
     [](Program& p) {
       const TapeTrace trace;
       const Tensor x = p.floating();
       const Tensor y = matmul(softmax(x, -1), x.transpose(-2, -1)).sum();
       p.keep(y);
       std::ostringstream out;
       out << Tape(y);
     }},
    {"nan trace",
     [](Program& p) {
       const NanTrace trace;
       const Tensor x = p.floating();
       const Tensor y = log(x) * sqrt(x);
       p.keep(y);
       y.sum().backward();
     }},
    {"function",
     [](Program& p) {
       const Function f = function(p);
       p.keep(f(p.several()));
     }},
    {"function, used",
     [](Program& p) {
       const Function f = function(p);
       const Tensor y = f({p.floating(), p.floating()});
       p.keep(y);
       y.backward({.gradient = gradient_for(p, y)});
     }},
    {"gradcheck",
     [](Program& p) {
       const Tensor x = p.floating();
       if (x.numel() > 8) return;
       GradcheckOptions options{.order = p.rarely(4) ? 2 : 1, .check_determinism = p.flag()};
       if (p.rarely(4)) options.step = p.number();
       if (p.rarely(4)) options.rtol = p.number();
       if (p.rarely(8)) options.frozen = {p.tensor()};
       std::ostringstream out;
       out << gradcheck([](const Tensor& a) { return tanh(a) * a; }, {x}, options);
     }},

    // ---- in place ----
    {"copy_",
     [](Program& p) {
       Tensor x = p.tensor();
       x.copy_(p.partner(x));
     }},
    {"fill_", [](Program& p) { p.tensor().fill_(p.number()); }},
    {"zero_", [](Program& p) { p.tensor().zero_(); }},
    {"add_",
     [](Program& p) {
       Tensor x = p.tensor();
       x.add_(p.partner(x), p.number());
     }},
    {"mul_",
     [](Program& p) {
       Tensor x = p.tensor();
       x.mul_(p.partner(x));
     }},
    {"mul_ by a number", [](Program& p) { p.tensor().mul_(p.number()); }},
    {"masked_fill_",
     [](Program& p) {
       Tensor x = p.tensor();
       x.masked_fill_(p.rarely(8) ? p.tensor() : p.filled(p.shape_like(x), boolean), p.number());
     }},
    {"change in place without gradients",
     [](Program& p) {
       const NoGrad no_grad;
       Tensor x = p.tensor();
       p.flag() ? x.add_(p.partner(x), p.number()) : x.copy_(p.partner(x));
     }},
    {"mutable_data",
     [](Program& p) {
       Tensor x = p.floating();
       if (x.numel() > 0) *x.mutable_data<double>() = p.number();
     }},

    // ---- optimisers ----
    {"optimizer",
     [](Program& p) {
       std::vector<Tensor> parameters{p.floating()};
       if (p.rarely(4)) parameters = p.several();
       const auto chosen = optimizer(p, parameters);
       for (Index i = p.below(3); i >= 0; --i) chosen->step();
       if (p.flag()) chosen->zero_grad();
       if (p.flag()) chosen->set_lr(p.number());
     }},
    {"clip_grad_norm_",
     [](Program& p) { clip_grad_norm_(p.several(), p.number(), p.flag() ? 2.0 : p.number()); }},
    {"clip_grad_value_", [](Program& p) { clip_grad_value_(p.several(), p.number()); }},
    {"schedule",
     [](Program& p) {
       const Schedule factor = schedule::product(schedule_of(p), schedule_of(p));
       factor(p.integer());
     }},

    // ---- random streams ----
    {"manual_seed", [](Program& p) { manual_seed(static_cast<std::uint64_t>(p.integer())); }},
    {"generator",
     [](Program& p) {
       Generator g(static_cast<std::uint64_t>(p.integer()));
       g.next_key();
       g.randint(p.integer(), p.integer());
       g.bernoulli(p.number());
       g.permutation(p.integer());
     }},
    {"random_below",
     [](Program& p) { Generator().random_below(static_cast<std::uint64_t>(p.integer())); }},
    {"set_state",
     [](Program& p) {
       Generator g;
       std::string state = g.state();
       if (!p.rarely(4)) {
         state.replace(static_cast<std::size_t>(p.byte()) * state.size() / 256, 2,
                       p.text("09 -\nx"));
       }
       g.set_state(state);
       g.raw();
     }},
    {"set_state to any text", [](Program& p) { Generator().set_state(p.text("Gen 019\n-")); }},
    {"numpy",
     [](Program& p) {
       random::Numpy numpy(p.integer());
       p.keep(p.flag() ? numpy.rand(p.shape()) : numpy.randn(p.shape()));
     }},
};

}  // namespace

std::span<const Operation> autograd_operations() { return kOperations; }

}  // namespace gradus::fuzz
