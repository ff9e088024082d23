// What programs can do with layers: make one with some options, run it, and ask it what a module
// can be asked.
#include <memory>
#include <sstream>

#include "framework/autograd/backward.h"
#include "layers/attention.h"
#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/feed_forward.h"
#include "layers/generation.h"
#include "layers/init.h"
#include "layers/inspect.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "layers/positional_encoding.h"
#include "layers/rms_norm.h"
#include "layers/softmax.h"
#include "layers/summary.h"
#include "layers/transformer.h"
#include "tests/fuzz/program.h"

namespace gradus::fuzz {
namespace {

/// Small enough to be quick, or hostile.
Index width(Program& p) { return p.rarely(8) ? p.integer() : p.below(5) + 1; }
double probability(Program& p) { return p.rarely(4) ? p.number() : 0.0; }
Activation activation(Program& p) { return static_cast<Activation>(p.below(3)); }

/// (batch, length, width), most of the time.
Tensor sequence(Program& p, Index features, DType dtype) {
  if (p.rarely(8)) return p.tensor();
  const Index batch = p.below(3);
  return p.filled({batch, p.below(4), features}, dtype);
}

DType prepare(Program& p, Module& module) {
  if (p.flag()) module.to(float64);
  if (p.rarely(8)) module.to(p.dtype());
  if (p.rarely(4)) module.eval();
  if (p.rarely(8)) module.requires_grad_(p.flag());
  const std::vector<Tensor> parameters = module.parameters();
  return parameters.empty() ? float64 : parameters[0].dtype();
}

/// Asks the module of a result whatever can be asked.
void ask(Program& p, Module& module, const Tensor& result) {
  p.keep(result);
  std::ostringstream out;
  out << module << summary(module);
  if (p.flag()) {
    parameters_without_gradient(module, result.sum());
    result.sum().backward({.retain_graph = p.flag()});
  }
  StateDict state = module.state_dict();
  if (!state.empty() && p.rarely(4)) state.begin()->second = p.tensor();
  if (p.rarely(8)) state.emplace("another", p.tensor());
  if (p.rarely(8)) module.zero_grad();
  module.load_state_dict(state);
}

void try_layer(Program& p, Layer& layer, Index features) {
  const DType dtype = prepare(p, layer);
  ask(p, layer, layer(sequence(p, features, dtype)));
}

TransformerLayerOptions transformer_options(Program& p) {
  const Index heads = p.below(2) + 1;
  return {.d_model = p.rarely(8) ? p.integer() : heads * 2,
          .n_heads = heads,
          .dim_feedforward = width(p),
          .dropout = probability(p),
          .activation = activation(p),
          .layer_norm_eps = p.rarely(4) ? p.number() : 1e-5,
          .norm_first = p.flag(),
          .bias = p.flag()};
}

GPTOptions gpt_options(Program& p) {
  const Index heads = p.rarely(8) ? p.integer() : p.below(3) + 1;
  return {.vocab_size = width(p),
          .block_size = width(p),
          .n_layers = p.rarely(8) ? 0 : p.below(2) + 1,
          .n_heads = heads,
          .d_model = p.rarely(8) ? p.integer() : 2 * (p.below(3) + 1),
          .n_kv_heads = p.rarely(8) ? p.integer() : p.below(3),
          .d_hidden = p.rarely(8) ? p.integer() : p.below(4),
          .dropout = probability(p),
          .bias = p.flag(),
          .positions = p.flag() ? Positions::learned : Positions::rotary,
          .norm = p.flag() ? Norm::layer : Norm::rms,
          .activation = activation(p),
          .tie_weights = p.flag()};
}

SamplingOptions sampling_options(Program& p) {
  return {.temperature = p.number(), .top_k = p.integer(), .top_p = p.number()};
}

constexpr Operation kOperations[] = {
    {"Linear",
     [](Program& p) {
       const Index in = width(p);
       Linear layer({.in_features = in, .out_features = width(p), .bias = p.flag()});
       try_layer(p, layer, in);
     }},
    {"Embedding",
     [](Program& p) {
       const Index rows = width(p);
       Embedding layer({.num_embeddings = rows,
                        .embedding_dim = width(p),
                        .padding_idx = p.flag() ? kNoPadding : p.integer()});
       prepare(p, layer);
       ask(p, layer, layer(p.indices(p.shape(), rows)));
     }},
    {"LayerNorm",
     [](Program& p) {
       const Index features = width(p);
       LayerNorm layer({.normalized_shape = p.rarely(4) ? p.shape() : Shape{features},
                        .eps = p.rarely(4) ? p.number() : 1e-5,
                        .bias = p.flag()});
       try_layer(p, layer, features);
     }},
    {"Dropout",
     [](Program& p) {
       Dropout layer(p.number());
       try_layer(p, layer, p.below(4));
     }},
    {"Softmax",
     [](Program& p) {
       Softmax layer({.axis = p.integer()});
       try_layer(p, layer, p.below(4));
     }},
    {"FeedForward",
     [](Program& p) {
       const Index features = width(p);
       FeedForward layer({.d_model = features,
                          .d_hidden = width(p),
                          .dropout = probability(p),
                          .activation = activation(p)});
       try_layer(p, layer, features);
     }},
    {"LearnedPositions",
     [](Program& p) {
       const Index features = width(p);
       LearnedPositions layer({.max_len = width(p), .d_model = features});
       try_layer(p, layer, features);
     }},
    {"SinusoidalPositions",
     [](Program& p) {
       const Index features = width(p);
       SinusoidalPositions layer({.max_len = width(p), .d_model = features});
       try_layer(p, layer, features);
     }},
    {"SingleHeadAttention",
     [](Program& p) {
       const Index features = width(p);
       SingleHeadAttention layer(
           {.d_model = features, .dropout = probability(p), .bias = p.flag()});
       const DType dtype = prepare(p, layer);
       const Tensor x = sequence(p, features, dtype);
       const Tensor memory = p.flag() ? x : sequence(p, features, dtype);
       ask(p, layer, layer(x, memory, memory, p.mask()).output);
     }},
    {"MultiHeadAttention",
     [](Program& p) {
       const Index heads = p.rarely(8) ? p.integer() : p.below(2) + 1;
       const Index features = p.rarely(8) ? p.integer() : 2 * (p.below(2) + 1);
       const Index keys = p.rarely(4) ? width(p) : 0;
       MultiHeadAttention layer({.d_model = features,
                                 .n_heads = heads,
                                 .dropout = probability(p),
                                 .bias = p.flag(),
                                 .kdim = keys,
                                 .vdim = p.rarely(4) ? width(p) : 0});
       const DType dtype = prepare(p, layer);
       const Tensor x = sequence(p, features, dtype);
       const Tensor memory = p.flag() ? x : sequence(p, keys == 0 ? features : keys, dtype);
       ask(p, layer, layer(x, memory, p.flag() ? memory : x, p.mask()).output);
     }},
    {"TransformerEncoderLayer",
     [](Program& p) {
       const TransformerLayerOptions options = transformer_options(p);
       TransformerEncoderLayer layer(options);
       const DType dtype = prepare(p, layer);
       ask(p, layer, layer(sequence(p, options.d_model, dtype), p.mask()).output);
     }},
    {"TransformerDecoderLayer",
     [](Program& p) {
       const TransformerLayerOptions options = transformer_options(p);
       TransformerDecoderLayer layer(options);
       const DType dtype = prepare(p, layer);
       const Tensor x = sequence(p, options.d_model, dtype);
       const Tensor memory = sequence(p, options.d_model, dtype);
       ask(p, layer, layer(x, memory, p.mask(), p.mask()).output);
     }},
    {"Transformer",
     [](Program& p) {
       const TransformerLayerOptions layer = transformer_options(p);
       Transformer model({.d_model = layer.d_model,
                          .n_heads = layer.n_heads,
                          .num_encoder_layers = p.below(3) - 1,
                          .num_decoder_layers = p.below(2),
                          .dim_feedforward = layer.dim_feedforward,
                          .activation = layer.activation,
                          .norm_first = layer.norm_first});
       const DType dtype = prepare(p, model);
       const Tensor src = sequence(p, layer.d_model, dtype);
       const Tensor tgt = sequence(p, layer.d_model, dtype);
       ask(p, model, model(src, tgt, {.src = p.mask(), .tgt = p.mask(), .memory = p.mask()}));
     }},
    {"RMSNorm",
     [](Program& p) {
       const Index features = width(p);
       RMSNorm layer({.normalized_shape = p.rarely(4) ? p.shape() : Shape{features},
                      .eps = p.rarely(4) ? std::optional(p.number()) : std::nullopt,
                      .elementwise_affine = p.flag()});
       try_layer(p, layer, features);
     }},
    {"GPT",
     [](Program& p) {
       const GPTOptions options = gpt_options(p);
       GPT model(options);
       prepare(p, model);
       const Index length = p.below(options.block_size < 5 ? 5 : 6);
       ask(p, model, model(p.indices({p.below(3), length}, options.vocab_size)));
     }},
    {"GPT with a cache",
     [](Program& p) {
       const GPTOptions options = gpt_options(p);
       GPT model(options);
       prepare(p, model);
       KeyValueCache cache = model.empty_cache();
       const Index batch = p.below(3);
       for (int i = 0; i < 3; ++i) {
         p.keep(model(p.indices({batch, p.below(3)}, options.vocab_size), cache));
       }
     }},
    {"generate",
     [](Program& p) {
       const GPT model(gpt_options(p));
       Generator generator(1);
       generate(model, {p.below(2), p.below(2)}, p.below(8), sampling_options(p), generator);
     }},
    {"sample",
     [](Program& p) {
       Generator generator(1);
       const Tensor logits = p.tensor();
       const SamplingOptions options = sampling_options(p);
       p.keep(sampling_probabilities(logits, options));
       sample(logits, options, generator);
     }},
    {"init",
     [](Program& p) {
       Tensor weight = p.tensor();
       switch (p.below(4)) {
         case 0: init::uniform_(weight, p.number(), p.number()); break;
         case 1: init::normal_(weight, p.number(), p.number()); break;
         case 2: init::xavier_uniform_(weight, p.number()); break;
         default: init::kaiming_normal_(weight, p.number()); break;
       }
     }},
};

}  // namespace

std::span<const Operation> layer_operations() { return kOperations; }

}  // namespace gradus::fuzz
