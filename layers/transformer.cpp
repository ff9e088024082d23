#include "layers/transformer.h"

#include "framework/core/error.h"
#include "framework/ops/checks.h"
#include "layers/init.h"

namespace gradus {
namespace {

template <class Layers>
void add_layers(const char* stack, const TransformerStackOptions& options, Layers& layers,
                std::optional<LayerNorm>& norm) {
  if (options.num_layers < 0) {
    throw ValueError(text(stack, ": num_layers ", options.num_layers, " must not be negative"));
  }
  for (Index i = 0; i < options.num_layers; ++i) layers.emplace_back(options.layer);
  if (options.norm) {
    norm.emplace(LayerNormOptions{.normalized_shape = {options.layer.d_model},
                                  .eps = options.layer.layer_norm_eps,
                                  .bias = options.layer.bias});
  }
}

TransformerStackOptions stack_options(const TransformerOptions& options, Index num_layers) {
  return {.layer = {.d_model = options.d_model,
                    .n_heads = options.n_heads,
                    .dim_feedforward = options.dim_feedforward,
                    .dropout = options.dropout,
                    .activation = options.activation,
                    .layer_norm_eps = options.layer_norm_eps,
                    .norm_first = options.norm_first,
                    .bias = options.bias},
          .num_layers = num_layers,
          .norm = true};
}

void check_sequence(const char* role, const Tensor& x, Index d_model) {
  if (x.dim() == 3 && x.size(2) == d_model) return;
  throw ShapeError(
      text("Transformer: ", role, " does not fit"),
      {.got = text(role, " ", described(x)), .need = text("(batch, length, ", d_model, ")")});
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& options) {
  add_layers("TransformerEncoder", options, layers, norm);
}

TransformerEncoder::Output TransformerEncoder::operator()(const Tensor& src,
                                                          const AttentionMask& mask,
                                                          bool need_weights) const {
  const ModuleScope scope(*this);
  Output result{src, {}};
  for (const TransformerEncoderLayer& layer : layers) {
    const AttentionOutput attended = layer(result.output, mask, need_weights);
    result.output = attended.output;
    if (need_weights) result.weights.push_back(attended.weights);
  }
  if (norm) result.output = (*norm)(result.output);
  return result;
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderOptions& options) {
  add_layers("TransformerDecoder", options, layers, norm);
}

TransformerDecoder::Output TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory,
                                                          const AttentionMask& mask,
                                                          const AttentionMask& memory_mask,
                                                          bool need_weights) const {
  const ModuleScope scope(*this);
  Output result{tgt, {}, {}};
  for (const TransformerDecoderLayer& layer : layers) {
    const TransformerDecoderLayer::Output attended =
        layer(result.output, memory, mask, memory_mask, need_weights);
    result.output = attended.output;
    if (!need_weights) continue;
    result.self_weights.push_back(attended.self_weights);
    result.cross_weights.push_back(attended.cross_weights);
  }
  if (norm) result.output = (*norm)(result.output);
  return result;
}

Transformer::Transformer(const TransformerOptions& options)
    : encoder(stack_options(options, options.num_encoder_layers)),
      decoder(stack_options(options, options.num_decoder_layers)),
      d_model_(options.d_model) {
  for (Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
  }
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt,
                               const TransformerMasks& masks) const {
  const ModuleScope scope(*this);
  check_sequence("src", src, d_model_);
  check_sequence("tgt", tgt, d_model_);
  if (src.size(0) != tgt.size(0)) {
    throw ShapeError("Transformer: batch sizes differ",
                     {.got = text("src ", described(src), ", tgt ", described(tgt))});
  }
  const Tensor memory = encoder(src, masks.src).output;
  return decoder(tgt, memory, masks.tgt, masks.memory).output;
}

}  // namespace gradus
