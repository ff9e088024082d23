// Generation: token by token, with a cache while it fits.
#include "layers/generation.h"

#include <string>
#include <vector>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

GPT seeded(Positions positions) {
  manual_seed(1);
  GPT model({.vocab_size = 11,
             .block_size = 8,
             .n_layers = 2,
             .n_heads = 2,
             .d_model = 8,
             .n_kv_heads = 1,
             .positions = positions});
  const NoGrad no_grad;
  for (Tensor& parameter : model.parameters()) parameter.add_(randn(parameter.shape()), 0.5);
  model.to(float64);
  return model;
}

/// The last block_size tokens read anew for every token, as minGPT does.
std::vector<Index> without_cache(const GPT& model, std::vector<Index> tokens, Index count,
                                 const SamplingOptions& options, Generator& generator) {
  for (Index i = 0; i < count; ++i) {
    const Index from = std::max<Index>(0, std::ssize(tokens) - model.options().block_size);
    const Tensor seen = from_vector(tokens).unsqueeze(0).slice(1, from);
    tokens.push_back(sample(model(seen)[0][-1].detach(), options, generator));
  }
  return tokens;
}

}  // namespace

TEST_CASE("generate says what the model says without a cache, also beyond its context",
          "[generation]") {
  for (const Positions positions : {Positions::learned, Positions::rotary}) {
    const GPT model = seeded(positions);
    for (const std::vector<Index>& prompt : std::vector<std::vector<Index>>{
             {3}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1}}) {
      for (const SamplingOptions& options :
           {SamplingOptions{.temperature = 0.0}, SamplingOptions{.temperature = 0.8, .top_k = 5}}) {
        Generator first(7);
        Generator second(7);
        const std::vector<Index> got = generate(model, prompt, 20, options, first);
        CHECK(got.size() == prompt.size() + 20);
        CHECK(got == without_cache(model, prompt, 20, options, second));
        CHECK(first == second);
      }
    }
  }
}

TEST_CASE("generate leaves the tape, the mode and the default generator alone", "[generation]") {
  GPT model = seeded(Positions::learned);
  Generator generator(1);
  const std::string before = default_generator().state();
  generate(model, {1, 2}, 3, {}, generator);
  CHECK(model.is_training());
  CHECK(model.layers[0].dropout.is_training());
  CHECK(grad_enabled());
  CHECK_FALSE(model.token.weight.grad().defined());
  CHECK(default_generator().state() == before);
  model.eval();
  generate(model, {1, 2}, 3, {}, generator);
  CHECK_FALSE(model.is_training());
  CHECK(generate(model, {1, 2}, 0, {}, generator) == std::vector<Index>{1, 2});
}

TEST_CASE("generate refuses an empty prompt, and tokens that are none", "[generation][errors]") {
  const GPT model = seeded(Positions::learned);
  Generator generator(1);
  CHECK(error_text<ValueError>([&] { generate(model, {}, 3, {}, generator); }) ==
        "generate: the prompt is empty\n"
        "  need   a token to go on from");
  CHECK(error_text<ValueError>([&] { generate(model, {1}, -3, {}, generator); }) ==
        "generate: count -3 must not be negative");
  CHECK(error_text<ValueError>([&] {
          generate(model, {1, 11}, 1, {}, generator);
        }) ==
        "embedding: index 11 is outside 0..10\n"
        "  got    indices (1, 2), first at (0, 1), 1 of 2 outside; weight (11, 8)");
}
