// Transformers: stacks of the layers of layers/transformer_layer.h, and the encoder-decoder of
// Vaswani et al., "Attention is all you need", 2017. Arguments, defaults and parameter names are
// PyTorch's.
#pragma once

#include <optional>
#include <vector>

#include "layers/transformer_layer.h"

namespace gradus {

struct TransformerStackOptions {
  TransformerLayerOptions layer;
  Index num_layers;
  bool norm = false;  ///< a LayerNorm after the last layer, which pre-norm layers want
};
using TransformerEncoderOptions = TransformerStackOptions;
using TransformerDecoderOptions = TransformerStackOptions;

/// Encoder layers one after another: (B, length, d_model) in and out. Each draws parameters of its
/// own (PyTorch's start as copies of one). Throws ValueError for a negative num_layers.
class TransformerEncoder : public Module {
 public:
  explicit TransformerEncoder(const TransformerEncoderOptions& options);

  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  struct Output {
    Tensor output;
    std::vector<Tensor> weights;  ///< of each layer, if asked for: (B, H, length, length)
  };
  /// Every layer sees the one mask. Throws ShapeError.
  Output operator()(const Tensor& src, const AttentionMask& mask = {},
                    bool need_weights = false) const;
  void visit(Visitor& v) override {
    v("layers", layers);
    v("norm", norm);
  }
  std::string description() const override { return "TransformerEncoder"; }
};

/// Decoder layers one after another, each attending to the one memory; else as TransformerEncoder.
class TransformerDecoder : public Module {
 public:
  explicit TransformerDecoder(const TransformerDecoderOptions& options);

  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  struct Output {
    Tensor output;
    std::vector<Tensor> self_weights;   ///< of each layer, if asked for: (B, H, length, length)
    std::vector<Tensor> cross_weights;  ///< the same: (B, H, length, memory's length)
  };
  /// memory is (B, its own length, d_model). Throws ShapeError.
  Output operator()(const Tensor& tgt, const Tensor& memory, const AttentionMask& mask = {},
                    const AttentionMask& memory_mask = {}, bool need_weights = false) const;
  void visit(Visitor& v) override {
    v("layers", layers);
    v("norm", norm);
  }
  std::string description() const override { return "TransformerDecoder"; }
};

struct TransformerOptions {
  Index d_model = 512;
  Index n_heads = 8;
  Index num_encoder_layers = 6;
  Index num_decoder_layers = 6;
  Index dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;  ///< pre-norm
  bool bias = true;
};

/// Which positions each attention may see.
struct TransformerMasks {
  AttentionMask src{};     ///< of the source by itself
  AttentionMask tgt{};     ///< of the target by itself: causal, in training
  AttentionMask memory{};  ///< of the encoder's output by the target
};

/// An encoder that reads the source and a decoder that reads the target and the encoder's output;
/// both end with a norm. All matrices start by init::xavier_uniform_ (queries, keys and values each
/// by itself; PyTorch's stacks the three), vectors as their layers draw
/// them. For the attention weights call `encoder` and `decoder` by themselves.
class Transformer : public Module {
 public:
  explicit Transformer(const TransformerOptions& options = {});

  TransformerEncoder encoder;
  TransformerDecoder decoder;

  /// src (B, its own length, d_model) and tgt (B, length, d_model) to (B, length, d_model). Throws
  /// ShapeError.
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {}) const;
  void visit(Visitor& v) override {
    v("encoder", encoder);
    v("decoder", decoder);
  }
  std::string description() const override { return "Transformer"; }

 private:
  Index d_model_;
};

}  // namespace gradus
