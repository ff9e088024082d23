// GPT: what it computes, how it starts, its tied weight, and its cache.
#include "layers/gpt.h"

#include <cmath>
#include <string>
#include <vector>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/join.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/optim/sgd.h"
#include "layers/inspect.h"
#include "layers/layer_norm.h"
#include "layers/rms_norm.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

GPTOptions tiny() {
  return {.vocab_size = 5, .block_size = 6, .n_layers = 2, .n_heads = 2, .d_model = 4};
}

/// GPT-2, Llama, and what lies between.
std::vector<GPTOptions> variants() {
  std::vector<GPTOptions> all;
  for (const Positions positions : {Positions::learned, Positions::rotary}) {
    for (const Index n_kv_heads : {0, 1}) {
      GPTOptions options = tiny();
      options.positions = positions;
      options.n_kv_heads = n_kv_heads;
      all.push_back(options);
    }
  }
  GPTOptions llama = tiny();
  llama.positions = Positions::rotary;
  llama.norm = Norm::rms;
  llama.activation = Activation::swiglu;
  llama.bias = false;
  llama.tie_weights = false;
  llama.d_hidden = 3;
  all.push_back(llama);
  return all;
}

GPT seeded(const GPTOptions& options, DType dtype = float64) {
  manual_seed(1);
  GPT model(options);
  // Larger numbers than those it starts with: what differs, differs visibly.
  const NoGrad no_grad;
  for (Tensor& parameter : model.parameters()) parameter.add_(randn(parameter.shape()), 0.3);
  model.to(dtype);
  return model;
}

Tensor some_tokens() { return tensor({{0, 3, 1, 4, 4, 2}, {2, 2, 0, 1, 3, 0}}, int64); }

}  // namespace

TEST_CASE("GPT is its embeddings, its blocks, a norm and a head", "[gpt]") {
  const GPT model = seeded(tiny());
  const Tensor tokens = some_tokens();
  Tensor x = model.token(tokens) + model.position->weight;
  for (const GPTBlock& block : model.layers) {
    x = x + block.self_attn((*block.norm1)(x)).output;
    x = x + block.feed_forward((*block.norm2)(x));
  }
  const Tensor want = matmul((*model.norm)(x), model.token.weight.transpose(0, 1));
  CHECK_THAT(model(tokens), IsCloseTo(want));
  CHECK(model(tokens).shape() == Shape{2, 6, 5});
  CHECK(model(tokens.slice(1, 0, 0)).shape() == Shape{2, 0, 5});
  CHECK(model(tokens.slice(0, 0, 0)).shape() == Shape{0, 6, 5});
}

TEST_CASE("GPT chooses its parts by options", "[gpt]") {
  const GPT gpt2(tiny());
  CHECK(dynamic_cast<const LayerNorm*>(gpt2.norm.get()) != nullptr);
  CHECK(gpt2.position->weight.shape() == Shape{6, 4});
  CHECK(gpt2.layers[0].feed_forward.linear1.weight.shape() == Shape{16, 4});
  CHECK_FALSE(gpt2.head.bias.defined());

  const GPT llama(variants().back());
  CHECK(dynamic_cast<const RMSNorm*>(llama.layers[1].norm2.get()) != nullptr);
  CHECK_FALSE(llama.position);
  std::vector<std::string> names;
  for (const auto& [name, parameter] : llama.named_parameters()) {
    if (!name.starts_with("layers.1")) names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{
                     "token.weight", "layers.0.norm1.weight", "layers.0.self_attn.q_linear.weight",
                     "layers.0.self_attn.k_linear.weight", "layers.0.self_attn.v_linear.weight",
                     "layers.0.self_attn.out_linear.weight", "layers.0.norm2.weight",
                     "layers.0.feed_forward.linear1.weight",
                     "layers.0.feed_forward.linear_gate.weight",
                     "layers.0.feed_forward.linear2.weight", "norm.weight", "head.weight"});
}

TEST_CASE("GPT starts as GPT-2 does", "[gpt]") {
  manual_seed(1);
  const GPT model({.vocab_size = 50, .block_size = 40, .n_layers = 8, .n_heads = 4, .d_model = 32});
  for (const auto& [name, parameter] : model.named_parameters()) {
    INFO(name);
    if (parameter.dim() == 2) {
      const bool writes = name.ends_with("out_linear.weight") || name.ends_with("linear2.weight");
      const double deviation = std::sqrt(mean(parameter * parameter).item());
      CHECK(deviation == Catch::Approx(writes ? 0.005 : 0.02).epsilon(0.1));
    } else {
      CHECK_THAT(parameter,
                 IsCloseTo(full(parameter.shape(), name.ends_with("bias") ? 0.0 : 1.0), exactly));
    }
  }
  // It knows nothing: the loss is near ln 50.
  const Tensor logits = model(randint(0, 50, {4, 40})).view({160, 50});
  const Tensor loss = cross_entropy(logits, randint(0, 50, {160}));
  CHECK(loss.item() == Catch::Approx(std::log(50.0)).epsilon(0.05));
}

TEST_CASE("GPT with a tied weight has it once", "[gpt]") {
  GPT model(tiny());
  CHECK(model.head.weight.is_same(model.token.weight));
  CHECK(model.state_dict().count("token.weight") == 1);
  CHECK(model.state_dict().count("head.weight") == 0);
  GPTOptions untied = tiny();
  untied.tie_weights = false;
  CHECK(GPT(untied).parameter_count() == model.parameter_count() + 5 * 4);

  SECTION("in another dtype, after a move, and when it is loaded") {
    model.to(float64);
    const GPT moved = std::move(model);
    CHECK(moved.head.weight.is_same(moved.token.weight));
    GPT loaded = seeded(tiny());
    const Tensor tokens = some_tokens();
    CHECK(difference(loaded(tokens), moved(tokens)) != "");
    loaded.load_state_dict(moved.state_dict());
    CHECK_THAT(loaded(tokens), IsCloseTo(moved(tokens), exactly));
  }
  SECTION("in an optimizer's step, with the gradients of both places") {
    const Tensor before = model.token.weight.clone().detach();
    const Tensor logits = model(some_tokens());
    cross_entropy(logits.view({12, 5}), some_tokens().view({12})).backward();
    const Tensor gradient = model.token.weight.grad().clone();
    SGD(model.parameters(), {.lr = 0.1}).step();
    CHECK_THAT(model.head.weight.detach(), IsCloseTo(before - gradient * 0.1));
  }
}

TEST_CASE("GPT trains every parameter, in every variant", "[gpt]") {
  for (const GPTOptions& options : variants()) {
    const GPT model = seeded(options);
    CHECK(parameters_without_gradient(model, model(some_tokens()).sum()).empty());
  }
}

TEST_CASE("GPT lets no later token through", "[gpt]") {
  for (const GPTOptions& options : variants()) {
    const GPT model = seeded(options);
    const Tensor tokens = some_tokens();
    const Tensor changed = cat({tokens.slice(1, 0, 4), tensor({{1, 1}, {1, 1}}, int64)}, 1);
    const Tensor before = model(tokens);
    const Tensor after = model(changed);
    CHECK_THAT(after.slice(1, 0, 4), IsCloseTo(before.slice(1, 0, 4), exactly));
    CHECK(difference(after.slice(1, 4), before.slice(1, 4)) != "");
  }
}

TEST_CASE("GPT shows its attention weights", "[gpt]") {
  for (const GPTOptions& options : variants()) {
    const GPT model = seeded(options);
    const auto [logits, weights] = model.with_weights(some_tokens());
    CHECK_THAT(logits, IsCloseTo(model(some_tokens())));
    REQUIRE(weights.size() == 2);
    for (const Tensor& layer : weights) {
      CHECK(layer.shape() == Shape{2, 2, 6, 6});
      CHECK_THAT(layer.sum({-1}), IsCloseTo(ones({2, 2, 6}, float64)));
      CHECK(layer.at({1, 1, 2, 3}) == 0);
    }
  }
}

TEST_CASE("GPT decodes from a cache what it says of the whole", "[gpt][cache]") {
  const NoGrad no_grad;
  const Tensor tokens = some_tokens();
  for (const GPTOptions& options : variants()) {
    for (const DType dtype : {float32, float64}) {
      const GPT model = seeded(options, dtype);
      const Tensor whole = model(tokens);
      const Tolerance tolerance{0, dtype == float32 ? 1e-5 : 1e-12};
      KeyValueCache cache = model.empty_cache();
      for (const std::vector<Index>& pieces :
           std::vector<std::vector<Index>>{{1, 1, 1, 1, 1, 1}, {3, 1, 2}, {6}}) {
        cache.clear();
        std::vector<Tensor> parts;
        Index past = 0;
        for (const Index length : pieces) {
          parts.push_back(model(tokens.slice(1, past, past + length), cache));
          past += length;
        }
        CHECK(cache.length() == 6);
        CHECK_THAT(cat(parts, 1), IsCloseTo(whole, tolerance));
      }
      CHECK(cache.layer(1).keys.shape() == Shape{2, options.n_kv_heads == 1 ? 1 : 2, 6, 2});
    }
  }
}

TEST_CASE("GPT refuses tokens beyond its block and caches that do not fit", "[gpt][errors]") {
  const GPT model = seeded(tiny());
  CHECK(error_text<ShapeError>([&] {
          model(zeros({1, 7}, int64));
        }) ==
        "GPT: 7 tokens are more than block_size 6\n"
        "  got    tokens (1, 7) int64\n"
        "  hint   the last block_size tokens, read from an empty cache");
  KeyValueCache cache = model.empty_cache();
  model(some_tokens().slice(1, 0, 5), cache);
  CHECK(error_text<ShapeError>([&] {
          model(zeros({2, 2}, int64), cache);
        }) ==
        "GPT: 7 tokens are more than block_size 6\n"
        "  got    tokens (2, 2) int64 after 5 cached\n"
        "  hint   the last block_size tokens, read from an empty cache");
  CHECK_THROWS_AS(model(zeros({1, 1}, int64), cache), ShapeError);  // another batch
  CHECK_THROWS_AS(model(tensor({{5}, {0}}, int64), cache), ValueError);
  CHECK(cache.length() == 5);
  CHECK(cache.layer(1).length() == 5);
  CHECK_NOTHROW(model(zeros({2, 1}, int64), cache));

  KeyValueCache other(3);
  CHECK(error_text<ValueError>([&] {
          model(zeros({1, 1}, int64), other);
        }) == "GPT: the cache has 3 layers, the model 2");
}

TEST_CASE("GPT drops out in training only, in all places", "[gpt]") {
  GPTOptions options = tiny();
  options.dropout = 0.5;
  GPT model = seeded(options);
  CHECK(difference(model(some_tokens()), model(some_tokens())) != "");
  model.eval();
  CHECK_THAT(model(some_tokens()), IsCloseTo(seeded(tiny())(some_tokens()), exactly));
  CHECK(model.dropout.p() == 0.5);
  CHECK(model.layers[0].dropout.p() == 0.5);
  CHECK(model.layers[0].self_attn.dropout.p() == 0.5);
  CHECK(model.layers[0].feed_forward.dropout.p() == 0.0);  // as nanoGPT: the stream's is enough
}

TEST_CASE("GPTBlock has right first and second derivatives in every variant", "[gpt][gradcheck]") {
  for (GPTOptions options : variants()) {
    options.d_hidden = 3;
    manual_seed(2);
    GPTBlock block(options);
    block.to(float64);
    check_layer_gradients(block, {random_normal({2, 3, 4}, 1)},
                          [&](const std::vector<Tensor>& x) { return block(x[0]).output; });
  }
  for (const Norm norm : {Norm::layer, Norm::rms}) {
    for (const Activation activation : {Activation::relu, Activation::gelu, Activation::swiglu}) {
      GPTOptions options = tiny();
      options.norm = norm;
      options.activation = activation;
      options.d_hidden = 2;
      manual_seed(3);
      GPTBlock block(options);
      block.to(float64);
      check_layer_gradients(
          block, {stored_transposed(random_normal({2, 2, 4}, 1))},
          [&](const std::vector<Tensor>& x) { return block(x[0], {.need_weights = true}).output; });
    }
  }
}

TEST_CASE("GPT has right first and second derivatives by a tied weight", "[gpt][gradcheck]") {
  GPTOptions options = tiny();
  options.n_layers = 1;
  options.d_hidden = 3;
  GPT model = seeded(options);
  const Tensor tokens = some_tokens().slice(1, 0, 3);
  CHECK_GRADIENTS(
      [&](const Tensor& weight) {
        model.token.weight = weight;
        model.head.weight = weight;
        return model(tokens);
      },
      {model.token.weight.detach()}, {.order = 2});
}
