// Modules: what follows from the one list of members that visit() gives.
#include "layers/module.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/optim/adam.h"
#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/transformer_layer.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// A parameter of its own, two children, and children in a list.
class Net : public Module {
 public:
  Net() {
    blocks.emplace_back(2, 2);
    blocks.emplace_back(2, 1, false);
  }

  Tensor scale = ones({2}).requires_grad_();
  Tensor left_out;
  Linear first{3, 2};
  Dropout dropout{0.5};
  std::vector<Linear> blocks;

  Tensor operator()(const Tensor& x) const {
    return blocks[1](blocks[0](dropout(first(x) * scale)));
  }
  void visit(Visitor& v) override {
    v("scale", scale);
    v("left_out", left_out);
    v("first", first);
    v("dropout", dropout);
    v("blocks", blocks);
  }
  std::string description() const override { return "Net"; }
};

/// Two names for one table, as where words are read and written by the same vectors.
class Tied : public Module {
 public:
  Tied() { output.weight = input.weight; }

  Embedding input{5, 3};
  Linear output{3, 5, false};

  void visit(Visitor& v) override {
    v("input", input);
    v("output", output);
  }
  std::string description() const override { return "Tied"; }
};

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : module.named_parameters()) names.push_back(name);
  return names;
}

std::string printed(const Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

/// Numbers other than those that are there.
StateDict other_state(const Module& module) {
  StateDict state;
  std::uint64_t seed = 1;
  for (const auto& [name, parameter] : module.named_parameters()) {
    state.emplace(name, random_normal(parameter.shape(), seed++, parameter.dtype()));
  }
  return state;
}

std::vector<std::vector<double>> numbers_of(const Module& module) {
  std::vector<std::vector<double>> all;
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter.to_vector<double>());
  return all;
}

}  // namespace

TEST_CASE("parameters have dotted names, in the order of visit", "[module]") {
  const Net net;
  CHECK(names_of(net) == std::vector<std::string>{"scale", "first.weight", "first.bias",
                                                  "blocks.0.weight", "blocks.0.bias",
                                                  "blocks.1.weight"});
  CHECK(net.parameters().size() == 6);
  CHECK(net.parameter_count() == 2 + 6 + 2 + 4 + 2 + 2);
  CHECK(net.parameters()[1].is_same(net.first.weight));
  CHECK(names_of(Dropout(0.5)).empty());
  CHECK(Dropout(0.5).parameter_count() == 0);
  CHECK(names_of(TransformerEncoderLayer({.d_model = 4, .n_heads = 2, .dim_feedforward = 8})) ==
        std::vector<std::string>{"self_attn.q_linear.weight", "self_attn.q_linear.bias",
                                 "self_attn.k_linear.weight", "self_attn.k_linear.bias",
                                 "self_attn.v_linear.weight", "self_attn.v_linear.bias",
                                 "self_attn.out_linear.weight", "self_attn.out_linear.bias",
                                 "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
                                 "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"});
}

TEST_CASE("a shared parameter is listed once, under its first name", "[module]") {
  Tied tied;
  CHECK(names_of(tied) == std::vector<std::string>{"input.weight"});
  CHECK(tied.parameter_count() == 15);
  CHECK(tied.state_dict().size() == 1);
  SECTION("and stays shared in another dtype") {
    tied.to(float64);
    CHECK(tied.input.weight.dtype() == float64);
    CHECK(tied.output.weight.is_same(tied.input.weight));
  }
  SECTION("and is loaded in both places") {
    const StateDict state = other_state(tied);
    tied.load_state_dict(state);
    CHECK_THAT(tied.output.weight, IsCloseTo(state.at("input.weight"), exactly));
  }
  SECTION("and gets the gradients of both places") {
    const Tensor indices = tensor({1, 4}, int64);
    tied.output(tied.input(indices)).sum().backward();
    const Tensor embedded = tied.input.weight.detach();
    // d/dW of sum(W[i] W^T): the sum of all rows to each row picked, and the rows picked to all.
    Tensor want = (embedded[1] + embedded[4]).unsqueeze(0).expand({5, 3}).clone();
    want[1].add_(embedded.sum({0}));
    want[4].add_(embedded.sum({0}));
    CHECK_THAT(tied.input.weight.grad(), IsCloseTo(want));
  }
}

TEST_CASE("the state of a module is its parameters, off the tape, in their memory", "[module]") {
  Net net;
  const StateDict state = net.state_dict();
  REQUIRE(state.size() == 6);
  CHECK_FALSE(state.at("first.weight").requires_grad());
  CHECK_THAT(state.at("first.weight"), IsCloseTo(net.first.weight, exactly));
  state.at("scale").detach().fill_(7);
  CHECK_THAT(net.scale, HasValues({7, 7}, exactly));
}

TEST_CASE("a loaded module computes what the saved one does", "[module]") {
  Net saved;
  Net loaded;
  saved.eval();
  loaded.eval();
  const Tensor x = random_normal({4, 3}, 1, float32);
  const Tensor weight = loaded.first.weight;
  CHECK(difference(loaded(x), saved(x)) != "");
  loaded.load_state_dict(saved.state_dict());
  CHECK_THAT(loaded(x), IsCloseTo(saved(x), exactly));
  CHECK(loaded.first.weight.is_same(weight));  // an optimizer still holds it
  CHECK(loaded.first.weight.requires_grad());

  saved.load_state_dict(saved.state_dict());  // from its own memory
  CHECK_THAT(loaded(x), IsCloseTo(saved(x), exactly));
  StateDict strided = other_state(loaded);
  for (auto& [name, tensor] : strided) tensor = stored_transposed(tensor);
  loaded.load_state_dict(strided);
  CHECK_THAT(loaded.first.weight, IsCloseTo(strided.at("first.weight"), exactly));
}

TEST_CASE("a state that does not match is refused with every fault, and nothing changes",
          "[module][errors]") {
  Net net;
  const auto before = numbers_of(net);
  StateDict state = other_state(net);
  state.erase("first.bias");
  state.erase("blocks.0.weight");
  state["first.weight"] = zeros({2, 4});
  state["scale"] = zeros({2}, float64);
  state["left_out"] = zeros({2});
  state["head.weight"] = zeros({3}, int64);
  CHECK(
      error_text<ValueError>([&] { net.load_state_dict(state); }) ==
      "load_state_dict: the state does not match the module: 2 missing, 2 unexpected, 1 of another "
      "shape, 1 of another dtype\n"
      "  first.bias        missing (2,) float32\n"
      "  blocks.0.weight   missing (2, 2) float32\n"
      "  head.weight       unexpected (3,) int64\n"
      "  left_out          unexpected (2,) float32\n"
      "  first.weight      state (2, 4), module (2, 3)\n"
      "  scale             state float64, module float32");
  CHECK(numbers_of(net) == before);
  CHECK(error_text<ValueError>([&] { Linear(1, 1, false).load_state_dict({}); }) ==
        "load_state_dict: the state does not match the module: 1 missing\n"
        "  weight   missing (1, 1) float32");
}

TEST_CASE("to() converts every parameter, and keeps what is frozen so", "[module]") {
  Net net;
  net.eval();
  net.first.requires_grad_(false);
  const Tensor x = random_normal({4, 3}, 1, float32);
  const Tensor y = net(x).detach();
  net.to(float64);
  for (const auto& [name, parameter] : net.named_parameters()) {
    INFO(name);
    CHECK(parameter.dtype() == float64);
    CHECK(parameter.is_leaf());
    CHECK(parameter.requires_grad() == !name.starts_with("first"));
  }
  CHECK_THAT(net(x.to(float64)).to(float32), IsCloseTo(y));
  net.to(float32);
  CHECK_THAT(net(x), IsCloseTo(y, exactly));
}

TEST_CASE("train and eval reach every module below", "[module]") {
  Net net;
  CHECK(net.is_training());
  CHECK(net.dropout.is_training());
  net.eval();
  CHECK_FALSE(net.is_training());
  CHECK_FALSE(net.dropout.is_training());
  CHECK_FALSE(net.blocks[1].is_training());
  const Tensor x = random_normal({4, 3}, 1, float32);
  CHECK_THAT(net(x), IsCloseTo(net(x).detach(), exactly));
  net.train();
  CHECK(net.dropout.is_training());

  TransformerEncoderLayer layer({.d_model = 4, .n_heads = 2, .dim_feedforward = 8});
  layer.eval();  // three levels down
  CHECK_FALSE(layer.dropout1.is_training());
  CHECK_FALSE(layer.dropout2.is_training());
  CHECK_FALSE(layer.self_attn.dropout.is_training());
  CHECK_FALSE(layer.feed_forward.dropout.is_training());
  layer.train();
  CHECK(layer.self_attn.dropout.is_training());
}

TEST_CASE("frozen parameters get no gradient, and learn again when asked", "[module]") {
  Net net;
  net.eval();
  net.requires_grad_(false);
  const Tensor x = random_normal({4, 3}, 1, float32);
  CHECK_FALSE(net(x).requires_grad());
  net.blocks[0].requires_grad_(true);
  net(x).sum().backward();
  CHECK(net.blocks[0].weight.grad().defined());
  CHECK_FALSE(net.first.weight.grad().defined());
  net.requires_grad_(true);
  net(x).sum().backward();
  CHECK(net.first.weight.grad().defined());
}

TEST_CASE("zero_grad drops every gradient", "[module]") {
  Net net;
  net.eval();
  const Tensor x = random_normal({4, 3}, 1, float32);
  net(x).sum().backward();
  const Tensor once = net.first.weight.grad().clone();
  net(x).sum().backward();
  CHECK_THAT(net.first.weight.grad(), IsCloseTo(once + once));
  net.zero_grad();
  for (const Tensor& parameter : net.parameters()) CHECK_FALSE(parameter.grad().defined());
  net.requires_grad_(false);
  net.zero_grad();  // nothing to drop is no error
}

TEST_CASE("a module prints as a tree with names", "[module]") {
  CHECK(printed(Linear(8, 4)) == "Linear(8, 4)");
  CHECK(printed(Net()) ==
        "Net (\n"
        "  (first): Linear(3, 2)\n"
        "  (dropout): Dropout(0.5)\n"
        "  (blocks.0): Linear(2, 2)\n"
        "  (blocks.1): Linear(2, 1, no bias)\n"
        ")");
  CHECK(printed(TransformerEncoderLayer({.d_model = 4, .n_heads = 2, .dim_feedforward = 8})) ==
        "TransformerEncoderLayer(relu, post-norm) (\n"
        "  (self_attn): MultiHeadAttention(d_model 4, 2 heads) (\n"
        "    (q_linear): Linear(4, 4)\n"
        "    (k_linear): Linear(4, 4)\n"
        "    (v_linear): Linear(4, 4)\n"
        "    (out_linear): Linear(4, 4)\n"
        "    (fill_hidden): MaskedFill\n"
        "    (softmax): Softmax(axis -1)\n"
        "    (dropout): Dropout(0.1)\n"
        "  )\n"
        "  (linear1): Linear(4, 8)\n"
        "  (dropout): Dropout(0.1)\n"
        "  (linear2): Linear(8, 4)\n"
        "  (norm1): LayerNorm((4,))\n"
        "  (norm2): LayerNorm((4,))\n"
        "  (dropout1): Dropout(0.1)\n"
        "  (dropout2): Dropout(0.1)\n"
        ")");
}

TEST_CASE("a moved module keeps its parameters", "[module]") {
  Net net;
  const Tensor weight = net.first.weight;
  const Net moved = std::move(net);
  CHECK(moved.first.weight.is_same(weight));
  CHECK(names_of(moved).size() == 6);
}
