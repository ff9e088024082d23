// Stacks of a transformer's layers, and the encoder-decoder made of them.
#include "layers/transformer.h"

#include <cmath>
#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/extreme.h"
#include "framework/ops/join.h"
#include "framework/ops/unary.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

TransformerStackOptions small_stack(bool norm) {
  return {.layer = {.d_model = 4,
                    .n_heads = 2,
                    .dim_feedforward = 5,
                    .dropout = 0.0,
                    .activation = Activation::gelu,
                    .norm_first = norm},
          .num_layers = 2,
          .norm = norm};
}

TransformerOptions small_transformer() {
  return {.d_model = 4,
          .n_heads = 2,
          .num_encoder_layers = 2,
          .num_decoder_layers = 1,
          .dim_feedforward = 3,
          .dropout = 0.0,
          .activation = Activation::gelu};
}

}  // namespace

TEST_CASE("TransformerEncoder is its layers in turn, and the norm", "[transformer]") {
  for (const bool norm : {false, true}) {
    manual_seed(1);
    TransformerEncoder encoder(small_stack(norm));
    encoder.to(float64);
    const Tensor x = random_normal({2, 3, 4}, 1);
    const AttentionMask mask = AttentionMask::padding({3, 1}, 3);
    const auto [y, weights] = encoder(x, mask, true);
    const AttentionOutput first = encoder.layers[0](x, mask, true);
    const AttentionOutput second = encoder.layers[1](first.output, mask, true);
    CHECK_THAT(y, IsCloseTo(norm ? (*encoder.norm)(second.output) : second.output, exactly));
    REQUIRE(weights.size() == 2);
    CHECK_THAT(weights[0], IsCloseTo(first.weights, exactly));
    CHECK_THAT(weights[1], IsCloseTo(second.weights, exactly));
    CHECK(encoder(x, mask).weights.empty());
    CHECK_THAT(encoder(x, mask).output, IsCloseTo(y));
    CHECK(encoder.norm.has_value() == norm);
    CHECK(difference(encoder.layers[0].norm1.weight, encoder.layers[1].norm1.weight) == "");
    CHECK(difference(encoder.layers[0].feed_forward.linear1.weight,
                     encoder.layers[1].feed_forward.linear1.weight) != "");  // no copies
  }
}

TEST_CASE("TransformerDecoder is its layers in turn, and the norm", "[transformer]") {
  manual_seed(2);
  TransformerDecoder decoder(small_stack(true));
  decoder.to(float64);
  const Tensor x = random_normal({2, 3, 4}, 1);
  const Tensor memory = random_normal({2, 5, 4}, 2);
  const AttentionMask causal = AttentionMask::causal(3, 3);
  const AttentionMask padding = AttentionMask::padding({5, 2}, 5);
  const auto [y, self_weights, cross_weights] = decoder(x, memory, causal, padding, true);
  const auto first = decoder.layers[0](x, memory, causal, padding, true);
  const auto second = decoder.layers[1](first.output, memory, causal, padding, true);
  CHECK_THAT(y, IsCloseTo((*decoder.norm)(second.output), exactly));
  REQUIRE(self_weights.size() == 2);
  CHECK_THAT(self_weights[1], IsCloseTo(second.self_weights, exactly));
  REQUIRE(cross_weights.size() == 2);
  CHECK_THAT(cross_weights[0], IsCloseTo(first.cross_weights, exactly));
  CHECK(cross_weights[1].shape() == Shape{2, 2, 3, 5});
  const auto without = decoder(x, memory, causal, padding);
  CHECK(without.self_weights.empty());
  CHECK(without.cross_weights.empty());
  CHECK_THAT(without.output, IsCloseTo(y));
}

TEST_CASE("stacks without layers are their norm, or nothing", "[transformer]") {
  TransformerStackOptions options = small_stack(false);
  options.num_layers = 0;
  const Tensor x = random_normal({1, 2, 4}, 1, float32);
  CHECK_THAT(TransformerEncoder(options)(x).output, IsCloseTo(x, exactly));
  options.norm = true;
  CHECK_THAT(TransformerDecoder(options)(x, x).output, IsCloseTo(LayerNorm(4)(x), exactly));
  options.num_layers = -1;
  CHECK(error_text<ValueError>([&] { TransformerEncoder{options}; }) ==
        "TransformerEncoder: num_layers -1 must not be negative");
}

TEST_CASE("Transformer has PyTorch's arguments and names", "[transformer]") {
  const TransformerOptions defaults;
  CHECK(defaults.d_model == 512);
  CHECK(defaults.n_heads == 8);
  CHECK(defaults.num_encoder_layers == 6);
  CHECK(defaults.num_decoder_layers == 6);
  CHECK(defaults.dim_feedforward == 2048);
  CHECK(defaults.dropout == 0.1);
  CHECK(defaults.activation == Activation::relu);
  CHECK_FALSE(defaults.norm_first);

  std::vector<std::string> names;
  for (const auto& [name, parameter] : Transformer(small_transformer()).named_parameters()) {
    if (name.find("attn") == std::string::npos && name.ends_with("weight")) names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{
                     "encoder.layers.0.linear1.weight", "encoder.layers.0.linear2.weight",
                     "encoder.layers.0.norm1.weight", "encoder.layers.0.norm2.weight",
                     "encoder.layers.1.linear1.weight", "encoder.layers.1.linear2.weight",
                     "encoder.layers.1.norm1.weight", "encoder.layers.1.norm2.weight",
                     "encoder.norm.weight", "decoder.layers.0.linear1.weight",
                     "decoder.layers.0.linear2.weight", "decoder.layers.0.norm1.weight",
                     "decoder.layers.0.norm2.weight", "decoder.layers.0.norm3.weight",
                     "decoder.norm.weight"});
}

TEST_CASE("Transformer starts its matrices by xavier_uniform_", "[transformer]") {
  manual_seed(3);
  TransformerOptions options = small_transformer();
  options.dim_feedforward = 400;
  const Transformer model(options);
  for (const auto& [name, parameter] : model.named_parameters()) {
    INFO(name);
    if (parameter.dim() == 1 && name.find("norm") != std::string::npos) {
      CHECK_THAT(parameter, IsCloseTo(full(parameter.shape(), name.ends_with("weight"))));
    }
    if (parameter.dim() < 2) continue;
    const double bound =
        std::sqrt(6.0 / static_cast<double>(parameter.size(0) + parameter.size(1)));
    const double largest = abs(parameter).max().item();
    CHECK(largest <= bound);
    if (parameter.numel() >= 1600) CHECK(largest > 0.99 * bound);
  }
}

TEST_CASE("Transformer decodes the target by what it encoded of the source", "[transformer]") {
  manual_seed(4);
  Transformer model(small_transformer());
  model.to(float64);
  const Tensor src = random_normal({2, 5, 4}, 1);
  const Tensor tgt = random_normal({2, 3, 4}, 2);
  const AttentionMask padding = AttentionMask::padding({5, 2}, 5);
  const TransformerMasks masks{
      .src = padding, .tgt = AttentionMask::causal(3, 3), .memory = padding};
  const Tensor y = model(src, tgt, masks);
  CHECK(y.shape() == Shape{2, 3, 4});
  const Tensor memory = model.encoder(src, padding).output;
  CHECK_THAT(y, IsCloseTo(model.decoder(tgt, memory, masks.tgt, padding).output, exactly));

  // What is hidden of the second source, and what comes later in the target, do not matter.
  const Tensor other_src = cat({src.slice(1, 0, 2), random_normal({2, 3, 4}, 3)}, 1);
  CHECK_THAT(model(other_src, tgt, masks)[1], IsCloseTo(y[1]));
  const Tensor other_tgt = cat({tgt.slice(1, 0, 2), random_normal({2, 1, 4}, 4)}, 1);
  CHECK_THAT(model(src, other_tgt, masks).slice(1, 0, 2), IsCloseTo(y.slice(1, 0, 2)));
  CHECK(difference(model(src, tgt), y) != "");
}

TEST_CASE("Transformer has right first and second derivatives", "[transformer][gradcheck]") {
  manual_seed(5);
  TransformerOptions options = small_transformer();
  options.num_encoder_layers = 1;
  Transformer model(options);
  model.to(float64);
  check_layer_gradients(model, {random_normal({2, 3, 4}, 1), random_normal({2, 2, 4}, 2)},
                        [&](const std::vector<Tensor>& x) {
                          return model(x[0], x[1], {.tgt = AttentionMask::causal(2, 2)});
                        });
}

TEST_CASE("Transformer refuses sequences that do not fit", "[transformer][errors]") {
  const Transformer model(small_transformer());
  CHECK(error_text<ShapeError>([&] {
          model(zeros({2, 5, 4}), zeros({2, 4}));
        }) ==
        "Transformer: tgt does not fit\n"
        "  got    tgt (2, 4) float32\n"
        "  need   (batch, length, 4)");
  CHECK(error_text<ShapeError>([&] {
          model(zeros({2, 5, 4}), zeros({3, 2, 4}));
        }) ==
        "Transformer: batch sizes differ\n"
        "  got    src (2, 5, 4) float32, tgt (3, 2, 4) float32");
}
