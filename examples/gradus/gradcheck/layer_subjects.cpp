#include <gradus/gradus.h>

#include <memory>

#include "examples/gradus/gradcheck/module_function.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

Tensor sequence(const SubjectSizes& sizes) {
  return randn({sizes.batch, sizes.length, sizes.dim}, float64);
}

AttentionMask mask_of(const SubjectSizes& sizes) {
  return sizes.causal ? AttentionMask::causal(sizes.length, sizes.length) : AttentionMask();
}

TransformerLayerOptions block(const SubjectSizes& sizes) {
  return {.d_model = sizes.dim,
          .n_heads = sizes.heads,
          .dim_feedforward = 2 * sizes.dim,
          .dropout = 0.0,
          .activation = Activation::gelu};
}

/// A layer of one tensor (batch, length, dim).
Checkable of_layer(const std::shared_ptr<Layer>& layer, const SubjectSizes& sizes) {
  return module_function(layer, {sequence(sizes)}, {"x"},
                         [layer](const std::vector<Tensor>& in) { return (*layer)(in[0]); });
}

Checkable linear_layer(const SubjectSizes& sizes) {
  return of_layer(std::make_shared<Linear>(sizes.dim, sizes.dim + 1), sizes);
}

Checkable feed_forward_layer(const SubjectSizes& sizes) {
  return of_layer(std::make_shared<FeedForward>(
                      FeedForwardOptions{.d_model = sizes.dim, .d_hidden = 2 * sizes.dim}),
                  sizes);
}

Checkable embedding_layer(const SubjectSizes& sizes) {
  const auto layer = std::make_shared<Embedding>(8, sizes.dim);
  return module_function(layer, {randint(0, 8, {sizes.batch, sizes.length})}, {"indices"},
                         [layer](const std::vector<Tensor>& in) { return (*layer)(in[0]); });
}

/// A sequence that attends to itself.
template <class Attention>
Checkable self_attention(const std::shared_ptr<Attention>& layer, const SubjectSizes& sizes) {
  return module_function(layer, {sequence(sizes)}, {"x"},
                         [layer, mask = mask_of(sizes)](const std::vector<Tensor>& in) {
                           return (*layer)(in[0], in[0], in[0], mask).output;
                         });
}

Checkable single_head(const SubjectSizes& sizes) {
  return self_attention(
      std::make_shared<SingleHeadAttention>(SingleHeadAttentionOptions{.d_model = sizes.dim}),
      sizes);
}

Checkable multi_head(const SubjectSizes& sizes) {
  return self_attention(std::make_shared<MultiHeadAttention>(MultiHeadAttentionOptions{
                            .d_model = sizes.dim, .n_heads = sizes.heads}),
                        sizes);
}

/// Queries that are fewer than keys.
Checkable cross_attention(const SubjectSizes& sizes) {
  const auto layer = std::make_shared<MultiHeadAttention>(
      MultiHeadAttentionOptions{.d_model = sizes.dim, .n_heads = sizes.heads});
  const Tensor query = sequence(sizes).slice(1, 0, (sizes.length + 1) / 2);
  return module_function(
      layer, {query, sequence(sizes), sequence(sizes)}, {"query", "key", "value"},
      [layer](const std::vector<Tensor>& in) { return (*layer)(in[0], in[1], in[2]).output; });
}

Checkable encoder_layer(const SubjectSizes& sizes) {
  const auto layer = std::make_shared<TransformerEncoderLayer>(block(sizes));
  return module_function(layer, {sequence(sizes)}, {"src"},
                         [layer, mask = mask_of(sizes)](const std::vector<Tensor>& in) {
                           return (*layer)(in[0], mask).output;
                         });
}

Checkable decoder_layer(const SubjectSizes& sizes) {
  const auto layer = std::make_shared<TransformerDecoderLayer>(block(sizes));
  return module_function(layer, {sequence(sizes), sequence(sizes)}, {"tgt", "memory"},
                         [layer, mask = mask_of(sizes)](const std::vector<Tensor>& in) {
                           return (*layer)(in[0], in[1], mask).output;
                         });
}

}  // namespace

std::vector<Subject> layer_subjects() {
  return {
      {"linear", "Linear(dim, dim + 1)", linear_layer},
      {"embedding", "Embedding(8, dim)", embedding_layer},
      {"feed_forward", "FeedForward, twice as wide inside", feed_forward_layer},
      {"single_head", "SingleHeadAttention of x to itself", single_head},
      {"attention", "MultiHeadAttention of x to itself", multi_head},
      {"mha", "the same by its short name", multi_head},
      {"cross_attention", "MultiHeadAttention of a query to longer key and value", cross_attention},
      {"encoder_layer", "TransformerEncoderLayer", encoder_layer},
      {"decoder_layer", "TransformerDecoderLayer", decoder_layer}};
}

}  // namespace examples
