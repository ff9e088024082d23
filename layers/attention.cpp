#include "layers/attention.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/ops/attention.h"
#include "framework/ops/checks.h"
#include "framework/ops/matmul.h"
#include "layers/heads_internal.h"

namespace gradus {
namespace {

void check_operand(const char* layer, const char* role, const Tensor& x, const Linear& projection) {
  if (x.dim() == 3 && x.size(2) == projection.weight.size(1)) return;
  throw ShapeError(text(layer, ": ", role, " does not fit"),
                   {.got = text(role, " ", described(x)),
                    .need = text("(batch, length, ", projection.weight.size(1), ")")});
}

void check_operands(const char* layer, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Linear& for_query, const Linear& for_key, const Linear& for_value) {
  check_operand(layer, "query", query, for_query);
  check_operand(layer, "key", key, for_key);
  check_operand(layer, "value", value, for_value);
  if (key.size(1) != value.size(1)) {
    throw ShapeError(text(layer, ": ", key.size(1), " keys but ", value.size(1), " values"),
                     {.got = text("key ", described(key), ", value ", described(value))});
  }
  if (query.size(0) != key.size(0) || key.size(0) != value.size(0)) {
    throw ShapeError(text(layer, ": batch sizes differ"),
                     {.got = text("query ", described(query), ", key ", described(key), ", value ",
                                  described(value))});
  }
}

MultiHeadAttentionOptions checked(const MultiHeadAttentionOptions& options) {
  if (options.kdim < 0 || options.vdim < 0) {
    throw ValueError(text("MultiHeadAttention: kdim ", options.kdim, " and vdim ", options.vdim,
                          " must not be negative"));
  }
  check_heads("MultiHeadAttention", options.d_model, options.n_heads);
  return options;
}

}  // namespace

SingleHeadAttention::SingleHeadAttention(const SingleHeadAttentionOptions& options)
    : W_q(options.d_model, options.d_model, options.bias),
      W_k(options.d_model, options.d_model, options.bias),
      W_v(options.d_model, options.d_model, options.bias),
      dropout(options.dropout),
      d_model_(options.d_model) {}

AttentionOutput SingleHeadAttention::operator()(const Tensor& query, const Tensor& key,
                                                const Tensor& value,
                                                const AttentionMask& mask) const {
  const ModuleScope scope(*this);
  check_operands("SingleHeadAttention", query, key, value, W_q, W_k, W_v);

  const Tensor q = W_q(query);  // (B, q, d_model)
  const Tensor k = W_k(key);    // (B, k, d_model)
  const Tensor v = W_v(value);  // (B, k, d_model)

  const double scale = std::sqrt(static_cast<double>(d_model_));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / scale;  // (B, q, k)
  const Tensor weights = softmax(fill_hidden(scores, mask));
  return {matmul(dropout(weights), v), weights};
}

std::string SingleHeadAttention::description() const {
  return text("SingleHeadAttention(d_model ", d_model_, ")");
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : q_linear(checked(options).d_model, options.d_model, options.bias),
      k_linear(options.kdim > 0 ? options.kdim : options.d_model, options.d_model, options.bias),
      v_linear(options.vdim > 0 ? options.vdim : options.d_model, options.d_model, options.bias),
      out_linear(options.d_model, options.d_model, options.bias),
      dropout(options.dropout),
      n_heads_(options.n_heads) {}

AttentionOutput MultiHeadAttention::operator()(const Tensor& query, const Tensor& key,
                                               const Tensor& value, const AttentionMask& mask,
                                               bool need_weights) const {
  const ModuleScope scope(*this);
  check_operands("MultiHeadAttention", query, key, value, q_linear, k_linear, v_linear);
  if (!need_weights) return {without_weights(query, key, value, mask), {}};

  const Tensor q = split_heads(q_linear(query), n_heads_);  // (B, H, q, d_head)
  const Tensor k = split_heads(k_linear(key), n_heads_);    // (B, H, k, d_head)
  const Tensor v = split_heads(v_linear(value), n_heads_);  // (B, H, k, d_head)

  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / scale;  // (B, H, q, k)
  const Tensor weights = softmax(fill_hidden(scores, mask));
  const Tensor context = matmul(dropout(weights), v);  // (B, H, q, d_head)
  return {out_linear(merge_heads(context)), weights};
}

Tensor MultiHeadAttention::without_weights(const Tensor& query, const Tensor& key,
                                           const Tensor& value, const AttentionMask& mask) const {
  return out_linear(
      attended(query, key, value, {q_linear, k_linear, v_linear}, {n_heads_, n_heads_},
               {.mask = mask, .dropout_p = dropout.is_training() ? dropout.p() : 0.0}));
}

std::string MultiHeadAttention::description() const {
  return text("MultiHeadAttention(d_model ", out_linear.weight.size(0), ", ", n_heads_, " heads)");
}

}  // namespace gradus
