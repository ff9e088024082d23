// What optimisers remember (C105): by PyTorch's names, complete, and strict when it is loaded.
#include <memory>
#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/io/safetensors.h"
#include "framework/optim/adam.h"
#include "framework/optim/sgd.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Two parameters, the second of which has its first gradient late.
std::vector<Tensor> parameters() {
  return {random_normal({2, 3}, 1, float32).requires_grad_(), leaf({1, 2})};
}

void run(Optimizer& optimizer, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t step = from; step < to; ++step) {
    optimizer.zero_grad();
    const auto& all = optimizer.parameters();
    all[0].set_grad(random_normal({2, 3}, step, float32));
    if (step >= 3) all[1].set_grad(random_normal({2}, step + 100));
    optimizer.step();
  }
}

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)> make;
};

std::vector<Kind> kinds() {
  const auto sgd = [](const SGDOptions& options) {
    return [options](const std::vector<Tensor>& p) { return std::make_unique<SGD>(p, options); };
  };
  return {{"Adam", [](const auto& p) { return std::make_unique<Adam>(p); }},
          {"AdamW with amsgrad",
           [](const auto& p) {
             return std::make_unique<AdamW>(
                 p, AdamOptions{.lr = 0.1, .weight_decay = 0.1, .amsgrad = true});
           }},
          {"SGD", sgd({.lr = 0.1, .dampening = 0.5, .weight_decay = 0.1})},
          {"SGD with momentum", sgd({.lr = 0.1, .momentum = 0.9, .dampening = 0.5})},
          {"SGD with Nesterov's", sgd({.lr = 0.1, .momentum = 0.9, .nesterov = true})}};
}

}  // namespace

TEST_CASE("C105: an optimiser goes on from its state bit for bit", "[optim][cases]") {
  for (const Kind& kind : kinds()) {
    for (std::uint64_t stop = 0; stop <= 5; ++stop) {
      INFO(kind.name << ", stopped after step " << stop);
      const auto through = kind.make(parameters());
      run(*through, 0, 8);

      const auto stopped = kind.make(parameters());
      run(*stopped, 0, stop);
      const auto resumed = kind.make(parameters());
      for (std::size_t i = 0; i < 2; ++i) {
        const Tensor& weights = resumed->parameters()[i];
        weights.detach().copy_(stopped->parameters()[i].detach());
      }
      const std::string file = safetensors_bytes(stopped->state_dict());
      run(*stopped, stop, 8);  // the file is no view of it
      resumed->load_state_dict(parse_safetensors(file, "file").tensors);
      run(*resumed, stop, 8);
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK_THAT(resumed->parameters()[i], IsCloseTo(through->parameters()[i], exactly));
      }
    }
  }
}

TEST_CASE("C105: without its state an optimiser goes elsewhere", "[optim][cases]") {
  for (const Kind& kind : kinds()) {
    if (kind.name == "SGD") continue;  // remembers nothing
    INFO(kind.name);
    const auto through = kind.make(parameters());
    run(*through, 0, 4);
    const auto forgetful = kind.make(through->parameters());
    const Tensor before = through->parameters()[0].detach().clone();
    run(*through, 4, 6);
    const Tensor want = through->parameters()[0].detach().clone();
    through->parameters()[0].detach().copy_(before);
    run(*forgetful, 4, 6);
    CHECK(difference(through->parameters()[0], want, exactly) != "");
  }
}

TEST_CASE("the state of an optimiser has PyTorch's names", "[optim]") {
  const auto names = [](const Optimizer& optimizer) {
    std::string list;
    for (const auto& [name, tensor] : optimizer.state_dict()) list += name + " ";
    return list;
  };
  const auto stepped = [&](auto optimizer) {
    run(optimizer, 0, 1);
    return names(optimizer);
  };
  CHECK(stepped(Adam(parameters())) ==
        "0.exp_avg 0.exp_avg_sq 0.step 1.exp_avg 1.exp_avg_sq 1.step ");
  CHECK(stepped(Adam({parameters()[0], leaf({1})}, {.amsgrad = true})) ==
        "0.exp_avg 0.exp_avg_sq 0.max_exp_avg_sq 0.step "
        "1.exp_avg 1.exp_avg_sq 1.max_exp_avg_sq 1.step ");
  CHECK(names(SGD(parameters(), {.momentum = 0.9})) == "");
  CHECK(stepped(SGD(parameters(), {.momentum = 0.9})) == "0.momentum_buffer ");
  CHECK(stepped(SGD(parameters())) == "");

  Adam adam({leaf({1})}, {.beta1 = 0.5, .beta2 = 0.75});
  adam.parameters()[0].set_grad(tensor({2}, float64));
  adam.step();
  const StateDict state = adam.state_dict();
  CHECK_THAT(state.at("0.step"), IsCloseTo(tensor(1, int64), exactly));
  CHECK_THAT(state.at("0.exp_avg"), HasValues({1}, exactly));
  CHECK_THAT(state.at("0.exp_avg_sq"), HasValues({1}, exactly));
}

TEST_CASE("a state from PyTorch counts steps in float32", "[optim]") {
  Adam adam({leaf({1})});
  StateDict state = adam.state_dict();
  state["0.step"] = tensor(3.0);
  adam.load_state_dict(state);
  CHECK_THAT(adam.state_dict().at("0.step"), IsCloseTo(tensor(3, int64), exactly));
  state["0.step"] = tensor(3.5);
  CHECK(error_text<ValueError>([&] { adam.load_state_dict(state); }) ==
        "load_state_dict: the state does not match the optimizer: 1 of another dtype\n"
        "  0.step   state float32, optimizer int64");
  state["0.step"] = tensor(-1, int64);
  CHECK(error_text<ValueError>([&] { adam.load_state_dict(state); }) ==
        "load_state_dict: the count 0.step is -1");
}

TEST_CASE("a state that does not match is refused as a whole, and nothing changes",
          "[optim][errors]") {
  const auto refused = [](Optimizer& optimizer, const StateDict& state) {
    return error_text<ValueError>([&] { optimizer.load_state_dict(state); });
  };
  const std::string lead = "load_state_dict: the state does not match the optimizer";
  Adam adam(parameters());
  run(adam, 0, 5);
  const std::string before = safetensors_bytes(adam.state_dict());
  CHECK(refused(adam, {}).starts_with(lead + ": 6 missing\n  0.step         missing () int64\n"
                                             "  0.exp_avg      missing (2, 3) float32\n"));
  StateDict state = Adam(parameters()).state_dict();
  state["0.exp_avg"] = zeros({3, 2});
  state["1.exp_avg"] = zeros({2});
  state["2.exp_avg"] = zeros({1});
  state.erase("1.step");
  CHECK(refused(adam, state) ==
        lead +
            ": 1 missing, 1 unexpected, 1 of another shape, 1 of another dtype\n"
            "  1.step      missing () int64\n"
            "  2.exp_avg   unexpected (1,) float32\n"
            "  0.exp_avg   state (3, 2), optimizer (2, 3)\n"
            "  1.exp_avg   state float32, optimizer float64");
  Adam amsgrad(parameters(), {.amsgrad = true});
  CHECK(refused(adam, amsgrad.state_dict()).starts_with(lead + ": 2 unexpected\n"));
  CHECK(refused(amsgrad, adam.state_dict()).starts_with(lead + ": 2 missing\n"));
  SGD sgd(parameters());
  CHECK(refused(sgd, adam.state_dict()).starts_with(lead + ": 6 unexpected\n"));
  CHECK(safetensors_bytes(adam.state_dict()) == before);
}

TEST_CASE("SGD's dampening is of no effect without momentum, as in PyTorch", "[sgd]") {
  Tensor theta = leaf({1});
  SGD sgd({theta}, {.lr = 0.1, .dampening = 0.5});
  theta.set_grad(tensor({1}, float64));
  sgd.step();
  sgd.step();
  CHECK_THAT(theta, HasValues({0.8}));
}
