#include <gradus/gradus.h>

#include <memory>

#include "examples/gradus/gradcheck/module_function.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

constexpr Index kVocabulary = 7;

GPTOptions one_layer(const SubjectSizes& sizes) {
  return {.vocab_size = kVocabulary,
          .block_size = sizes.length,
          .n_layers = 1,
          .n_heads = sizes.heads,
          .d_model = sizes.dim};
}

/// Its loss on random tokens.
Checkable loss_of(const GPTOptions& options, const SubjectSizes& sizes) {
  const auto model = std::make_shared<GPT>(options);
  const Shape shape{sizes.batch, sizes.length};
  return module_function(model, {randint(0, kVocabulary, shape), randint(0, kVocabulary, shape)},
                         {"tokens", "targets"}, [model](const std::vector<Tensor>& in) {
                           return cross_entropy((*model)(in[0]).flatten(0, 1), in[1].flatten());
                         });
}

Checkable gpt(const SubjectSizes& sizes) { return loss_of(one_layer(sizes), sizes); }

Checkable modern_gpt(const SubjectSizes& sizes) {
  GPTOptions options = one_layer(sizes);
  options.n_kv_heads = 1;
  options.bias = false;
  options.positions = Positions::rotary;
  options.norm = Norm::rms;
  options.activation = Activation::swiglu;
  options.tie_weights = false;
  return loss_of(options, sizes);
}

/// With padding behind the source of all sequences but the first.
Checkable transformer(const SubjectSizes& sizes) {
  const auto model =
      std::make_shared<Transformer>(TransformerOptions{.d_model = sizes.dim,
                                                       .n_heads = sizes.heads,
                                                       .num_encoder_layers = 1,
                                                       .num_decoder_layers = 1,
                                                       .dim_feedforward = 2 * sizes.dim,
                                                       .dropout = 0.0,
                                                       .activation = Activation::gelu});
  std::vector<Index> lengths(static_cast<std::size_t>(sizes.batch), (sizes.length + 1) / 2);
  lengths.front() = sizes.length;
  const AttentionMask padding = AttentionMask::padding(lengths, sizes.length);
  const TransformerMasks masks{
      .src = padding, .tgt = AttentionMask::causal(sizes.length, sizes.length), .memory = padding};
  const Shape shape{sizes.batch, sizes.length, sizes.dim};
  return module_function(
      model, {randn(shape, float64), randn(shape, float64)}, {"src", "tgt"},
      [model, masks](const std::vector<Tensor>& in) { return (*model)(in[0], in[1], masks); });
}

}  // namespace

std::vector<Subject> model_subjects() {
  return {
      {"gpt", "the loss of a GPT of one layer", gpt},
      {"modern_gpt", "the same with rotary positions, shared keys, RMSNorm and SwiGLU", modern_gpt},
      {"transformer", "Transformer of one layer each, with padding and a causal mask",
       transformer}};
}

}  // namespace examples
