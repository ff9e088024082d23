// GPT: a decoder-only transformer that reads tokens and says, at every position, what comes next
// (Radford et al., "Language models are unsupervised multitask learners", 2019), with the choices
// that later models made: rotary positions, grouped heads, RMSNorm, SwiGLU.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "layers/causal_self_attention.h"
#include "layers/embedding.h"
#include "layers/feed_forward.h"
#include "layers/positional_encoding.h"

namespace gradus {

enum class Positions { learned, rotary };
enum class Norm { layer, rms };

struct GPTOptions {
  Index vocab_size;
  Index block_size;  ///< how many tokens it can read
  Index n_layers;
  Index n_heads;
  Index d_model;
  Index n_kv_heads = 0;  ///< heads of keys and values; 0 stands for n_heads
  Index d_hidden = 0;    ///< of the feed-forward nets; 0 stands for 4 * d_model
  double dropout = 0.0;  ///< of embeddings, attention weights and what is added to the stream
  bool bias = true;      ///< of Linears and LayerNorms; the head has none
  Positions positions = Positions::learned;
  Norm norm = Norm::layer;
  Activation activation = Activation::gelu;
  bool tie_weights = true;  ///< the head's weight is the embedding's
};

/// Attention, then the feed-forward net, each pre-norm: x + dropout(f(norm(x))). It reads those of
/// the options that concern a layer. Throws ValueError.
class GPTBlock : public Module {
 public:
  explicit GPTBlock(const GPTOptions& options);

  std::unique_ptr<Layer> norm1;  ///< a LayerNorm or an RMSNorm
  CausalSelfAttention self_attn;
  std::unique_ptr<Layer> norm2;
  FeedForward feed_forward;
  Dropout dropout;

  /// x (B, T, d_model) to an output of its shape, and weights as CausalSelfAttention's. Throws
  /// ShapeError.
  AttentionOutput operator()(const Tensor& x, const CausalPass& pass = {}) const;
  void visit(Visitor& v) override {
    v("norm1", norm1);
    v("self_attn", self_attn);
    v("norm2", norm2);
    v("feed_forward", feed_forward);
    v("dropout", dropout);
  }
  std::string description() const override { return "GPTBlock"; }
};

/// Starts as GPT-2 does: matrices normal with deviation 0.02, those that write into the stream
/// smaller by sqrt(2 * n_layers), biases 0. A tied weight is one parameter, listed, stepped and
/// saved once, as token.weight. Throws ValueError for options that do not fit together.
class GPT : public Layer {
 public:
  explicit GPT(const GPTOptions& options);

  Embedding token;
  std::optional<LearnedPositions> position;
  Dropout dropout;
  std::vector<GPTBlock> layers;
  std::unique_ptr<Layer> norm;
  Linear head;

  using Layer::operator();
  /// Tokens (B, T), int64, to logits (B, T, vocab_size). Throws ShapeError for more than block_size
  /// of them, ValueError for one outside the vocabulary, DTypeError.
  Tensor forward(const Tensor& tokens) const override;
  /// The same for tokens that continue those of the cache, which takes them in. Throws as above,
  /// ShapeError where cached and new tokens together are more than block_size or another batch, and
  /// ValueError for the cache of another number of layers; the cache then stays as it was.
  Tensor operator()(const Tensor& tokens, KeyValueCache& cache) const;

  struct Output {
    Tensor logits;
    std::vector<Tensor> weights;  ///< of each layer: (B, H, T, T)
  };
  /// Logits and the attention weights behind them.
  Output with_weights(const Tensor& tokens) const;

  /// With a layer for each of the model's, and no tokens.
  KeyValueCache empty_cache() const { return KeyValueCache(options_.n_layers); }
  const GPTOptions& options() const { return options_; }
  void visit(Visitor& v) override {
    v("token", token);
    v("position", position);
    v("dropout", dropout);
    v("layers", layers);
    v("norm", norm);
    v("head", head);
  }
  std::string description() const override;

 private:
  Tensor read(const Tensor& tokens, KeyValueCache* cache, std::vector<Tensor>* weights) const;

  GPTOptions options_;
};

}  // namespace gradus
