// Weights and an optimiser's state travel to PyTorch and back: what was begun in one is continued
// in the other. Needs PyTorch (Debian's python3-torch); skipped, saying so, where there is none.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "framework/io/safetensors.h"
#include "framework/ops/loss.h"
#include "framework/optim/adam.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/transformer.h"
#include "tests/support/catch.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

constexpr TransformerEncoderLayerOptions kBlock{.d_model = 16,
                                                .n_heads = 2,
                                                .dim_feedforward = 32,
                                                .dropout = 0.0,
                                                .activation = Activation::gelu,
                                                .norm_first = true};

/// The model of pytorch_exchange.py.
class Net : public Module {
 public:
  Embedding symbols{11, 16};
  TransformerEncoderLayer block{kBlock};
  Linear logits{16, 11};

  Tensor operator()(const Tensor& tokens) const { return logits(block(symbols(tokens)).output); }
  void visit(Visitor& v) override {
    v("symbols", symbols);
    v("block", block);
    v("logits", logits);
  }
  std::string description() const override { return "Net"; }
};

/// The eps is large since the gradient of the keys' bias is 0, but for rounding: with a small one
/// Adam would make whole steps of it.
constexpr AdamOptions kOptions{.lr = 0.01, .eps = 1e-3, .weight_decay = 0.1};

void train(const Net& net, AdamW& adam, const Tensor& tokens) {
  adam.zero_grad();
  cross_entropy(net(tokens).view({-1, 11}), tokens.view({-1})).backward();
  adam.step();
}

/// A Python that has PyTorch, or "".
std::string python_with_torch() {
  const std::string looks =
      " -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(\"torch\") is None)'"
      " >/dev/null 2>&1";
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (std::system((python + looks).c_str()) == 0) return python;
  }
  return "";
}

void check_close(const StateDict& got, const StateDict& want, Tolerance tolerance) {
  CHECK(got.size() == want.size());
  for (const auto& [name, tensor] : want) {
    INFO(name);
    CHECK_THAT(got.at(name), IsCloseTo(tensor, tolerance));
  }
}

}  // namespace

TEST_CASE("weights and an optimiser's state travel to PyTorch and back", "[pytorch]") {
  const std::string python = python_with_torch();
  if (python.empty()) {
    WARN("skipped: no PyTorch here (Debian's python3-torch)");
    return;
  }
  const TemporaryFolder folder;
  manual_seed(1);
  Net net;
  AdamW adam(net.parameters(), kOptions);
  const Tensor tokens = tensor({{1, 2, 3, 4}, {9, 10, 0, 5}}, int64);
  for (int step = 0; step < 3; ++step) train(net, adam, tokens);
  StateDict sent = state_as("model", net.state_dict());
  sent.merge(state_as("optimizer", adam.state_dict()));
  sent["tokens"] = tokens;
  save_safetensors(folder / "gradus.safetensors", sent);

  const std::string script =
      (goldens_folder("torch").parent_path().parent_path() / "layers" / "pytorch_exchange.py")
          .string();
  REQUIRE(std::system((python + " '" + script + "' '" + folder.path().string() + "'").c_str()) ==
          0);
  const StateDict answer = load_safetensors(folder / "torch.safetensors").tensors;

  const Tolerance close{1e-5, 1e-6};
  CHECK_THAT(net(tokens), IsCloseTo(answer.at("logits"), close));
  train(net, adam, tokens);  // the step that PyTorch took
  check_close(net.state_dict(), state_under(answer, "model"), close);

  Net returned;
  AdamW returned_adam(returned.parameters(), kOptions);
  returned.load_state_dict(state_under(answer, "model"));
  returned_adam.load_state_dict(state_under(answer, "optimizer"));
  CHECK_THAT(returned(tokens), IsCloseTo(answer.at("new_logits"), close));
  check_close(returned_adam.state_dict(), adam.state_dict(), close);
  train(net, adam, tokens);
  train(returned, returned_adam, tokens);
  check_close(returned.state_dict(), net.state_dict(), close);
}
