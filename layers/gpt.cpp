#include "layers/gpt.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/ops/checks.h"
#include "layers/init.h"
#include "layers/layer_norm.h"
#include "layers/rms_norm.h"

namespace gradus {
namespace {

GPTOptions checked(const GPTOptions& options) {
  if (options.vocab_size < 1 || options.block_size < 1 || options.n_layers < 1) {
    throw ValueError(text("GPT: vocab_size ", options.vocab_size, ", block_size ",
                          options.block_size, " and n_layers ", options.n_layers,
                          " must be at least 1"));
  }
  if (options.d_hidden < 0) {
    throw ValueError(text("GPT: d_hidden ", options.d_hidden, " must not be negative"));
  }
  return options;
}

std::unique_ptr<Layer> norm_for(const GPTOptions& options) {
  const Shape width{options.d_model};
  if (options.norm == Norm::rms) {
    return std::make_unique<RMSNorm>(RMSNormOptions{.normalized_shape = width});
  }
  return std::make_unique<LayerNorm>(
      LayerNormOptions{.normalized_shape = width, .bias = options.bias});
}

CausalSelfAttentionOptions attention_options(const GPTOptions& options) {
  return {.d_model = options.d_model,
          .n_heads = options.n_heads,
          .n_kv_heads = options.n_kv_heads,
          .dropout = options.dropout,
          .bias = options.bias,
          .rotary = options.positions == Positions::rotary};
}

FeedForwardOptions feed_forward_options(const GPTOptions& options) {
  return {.d_model = options.d_model,
          .d_hidden = options.d_hidden == 0 ? 4 * options.d_model : options.d_hidden,
          .activation = options.activation,
          .bias = options.bias};
}

/// Every block adds to the stream twice: without the smaller start its variance would grow with
/// their number (GPT-2, section 2.3).
void draw_parameters(const GPT& model) {
  const double writers = 2.0 * static_cast<double>(model.options().n_layers);
  for (auto& [name, parameter] : model.named_parameters()) {
    const bool writes = name.ends_with("out_linear.weight") || name.ends_with("linear2.weight");
    const double deviation = writes ? 0.02 / std::sqrt(writers) : 0.02;
    if (parameter.dim() == 2) init::normal_(parameter, 0.0, deviation);
    if (name.ends_with("bias")) init::constant_(parameter, 0.0);
  }
}

void check_tokens(const GPTOptions& options, const Tensor& tokens, const KeyValueCache* cache) {
  if (tokens.dim() != 2) {
    throw ShapeError("GPT: needs tokens (batch, length)",
                     {.got = text("tokens ", described(tokens))});
  }
  check_dtype("GPT", "tokens", tokens, int64);
  if (cache && cache->n_layers() != options.n_layers) {
    throw ValueError(
        text("GPT: the cache has ", cache->n_layers(), " layers, the model ", options.n_layers));
  }
  const Index past = cache ? cache->length() : 0;
  if (past + tokens.size(1) > options.block_size) {
    throw ShapeError(
        text("GPT: ", past + tokens.size(1), " tokens are more than block_size ",
             options.block_size),
        {.got = past > 0 ? text("tokens ", described(tokens), " after ", past, " cached")
                         : text("tokens ", described(tokens)),
         .hint = "the last block_size tokens, read from an empty cache"});
  }
}

}  // namespace

GPTBlock::GPTBlock(const GPTOptions& options)
    : norm1(norm_for(options)),
      self_attn(attention_options(options)),
      norm2(norm_for(options)),
      feed_forward(feed_forward_options(options)),
      dropout(options.dropout) {}

AttentionOutput GPTBlock::operator()(const Tensor& x, const CausalPass& pass) const {
  const ModuleScope scope(*this);
  const AttentionOutput attended = self_attn((*norm1)(x), pass);
  const Tensor middle = x + dropout(attended.output);
  return {middle + dropout(feed_forward((*norm2)(middle))), attended.weights};
}

GPT::GPT(const GPTOptions& options)
    : token(checked(options).vocab_size, options.d_model),
      dropout(options.dropout),
      norm(norm_for(options)),
      head(options.d_model, options.vocab_size, false),
      options_(options) {
  if (options.positions == Positions::learned) {
    position.emplace(PositionOptions{.max_len = options.block_size, .d_model = options.d_model});
  }
  for (Index i = 0; i < options.n_layers; ++i) layers.emplace_back(options);
  if (options.tie_weights) head.weight = token.weight;
  draw_parameters(*this);
}

Tensor GPT::forward(const Tensor& tokens) const { return read(tokens, nullptr, nullptr); }

Tensor GPT::operator()(const Tensor& tokens, KeyValueCache& cache) const {
  const ModuleScope scope(*this);
  return read(tokens, &cache, nullptr);
}

GPT::Output GPT::with_weights(const Tensor& tokens) const {
  const ModuleScope scope(*this);
  Output result;
  result.logits = read(tokens, nullptr, &result.weights);
  return result;
}

Tensor GPT::read(const Tensor& tokens, KeyValueCache* cache, std::vector<Tensor>* weights) const {
  check_tokens(options_, tokens, cache);
  const Index past = cache ? cache->length() : 0;
  Tensor x = token(tokens);  // (B, T, d_model)
  if (position) x = (*position)(x, past);
  x = dropout(x);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    KeysAndValues* read_before = cache ? &cache->layer(static_cast<Index>(i)) : nullptr;
    const AttentionOutput attended =
        layers[i](x, {.cache = read_before, .need_weights = weights != nullptr});
    x = attended.output;
    if (weights) weights->push_back(attended.weights);
  }
  return head((*norm)(x));
}

std::string GPT::description() const {
  return text("GPT(vocab_size ", options_.vocab_size, ", block_size ", options_.block_size, ")");
}

}  // namespace gradus
