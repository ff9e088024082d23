#include "examples/gradus/model.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

Activation activation_named(const std::string& name) {
  if (name == "relu") return Activation::relu;
  return name == "swiglu" ? Activation::swiglu : Activation::gelu;
}

}  // namespace

GPT make_model(const RunSettings& settings, Index vocab_size, Index block_size) {
  return GPT({.vocab_size = vocab_size,
              .block_size = block_size,
              .n_layers = settings.layers,
              .n_heads = settings.heads,
              .d_model = settings.width,
              .dropout = settings.dropout,
              .positions = settings.positions == "rotary" ? Positions::rotary : Positions::learned,
              .norm = settings.norm == "rms" ? Norm::rms : Norm::layer,
              .activation = activation_named(settings.activation)});
}

}  // namespace examples
