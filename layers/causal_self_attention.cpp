#include "layers/causal_self_attention.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/ops/attention.h"
#include "framework/ops/attention_composed_internal.h"
#include "framework/ops/checks.h"
#include "framework/ops/matmul.h"
#include "framework/ops/rotary.h"
#include "layers/heads_internal.h"

namespace gradus {
namespace {

constexpr const char* kName = "CausalSelfAttention";

Index kv_heads(const CausalSelfAttentionOptions& options) {
  return options.n_kv_heads == 0 ? options.n_heads : options.n_kv_heads;
}

CausalSelfAttentionOptions checked(const CausalSelfAttentionOptions& options) {
  check_heads(kName, options.d_model, options.n_heads);
  const Index shared = kv_heads(options);
  if (shared < 0 || options.n_heads % shared != 0) {
    throw ValueError(text(kName, ": ", options.n_heads, " query heads cannot share ", shared,
                          " heads of keys and values evenly"));
  }
  const Index d_head = options.d_model / options.n_heads;
  if (options.rotary && d_head % 2 != 0) {
    throw ValueError(text(kName, ": rotary positions turn pairs of features, and a head has ",
                          d_head, " (", options.d_model, " / ", options.n_heads, ")"));
  }
  return options;
}

/// Features of the keys, or of the values.
Index kv_width(const CausalSelfAttentionOptions& options) {
  return options.d_model / options.n_heads * kv_heads(options);
}

}  // namespace

CausalSelfAttention::CausalSelfAttention(const CausalSelfAttentionOptions& options)
    : q_linear(checked(options).d_model, options.d_model, options.bias),
      k_linear(options.d_model, kv_width(options), options.bias),
      v_linear(options.d_model, kv_width(options), options.bias),
      out_linear(options.d_model, options.d_model, options.bias),
      dropout(options.dropout),
      n_heads_(options.n_heads),
      n_kv_heads_(kv_heads(options)),
      rotary_(options.rotary) {}

AttentionOutput CausalSelfAttention::operator()(const Tensor& x, const CausalPass& pass) const {
  const ModuleScope scope(*this);
  const Index d_model = q_linear.weight.size(1);
  if (x.dim() != 3 || x.size(2) != d_model) {
    throw ShapeError(
        text(kName, ": x does not fit"),
        {.got = text("x ", described(x)), .need = text("(batch, length, ", d_model, ")")});
  }

  const AttentionOptions options{.dropout_p = dropout.is_training() ? dropout.p() : 0.0,
                                 .is_causal = true,
                                 .causal_offset = pass.cache ? pass.cache->length() : 0,
                                 .enable_gqa = true};
  if (!pass.need_weights && !pass.cache && !rotary_) {
    return {out_linear(attended(x, x, x, {q_linear, k_linear, v_linear}, {n_heads_, n_kv_heads_},
                                options)),
            {}};
  }

  Tensor q = split_heads(q_linear(x), n_heads_);     // (B, H, q, d_head)
  Tensor k = split_heads(k_linear(x), n_kv_heads_);  // (B, H_kv, q, d_head)
  Tensor v = split_heads(v_linear(x), n_kv_heads_);  // (B, H_kv, q, d_head)

  const Index past = options.causal_offset;
  if (rotary_) {
    q = rotary_embedding(q, past);
    k = rotary_embedding(k, past);
  }
  if (pass.cache) {
    pass.cache->append(k, v);
    k = pass.cache->keys;    // (B, H_kv, past + q, d_head)
    v = pass.cache->values;  // (B, H_kv, past + q, d_head)
  }
  if (!pass.need_weights) {
    return {out_linear(merge_heads(scaled_dot_product_attention(q, k, v, options))), {}};
  }

  k = repeat_heads(k, n_heads_);  // (B, H, past + q, d_head)
  v = repeat_heads(v, n_heads_);
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / scale;  // (B, H, q, past + q)
  const AttentionMask mask = AttentionMask::causal(q.size(2), k.size(2), past);
  const Tensor weights = softmax(masked_fill(scores, mask), -1);
  const Tensor context = matmul(dropout(weights), v);  // (B, H, q, d_head)
  return {out_linear(merge_heads(context)), weights};
}

std::string CausalSelfAttention::description() const {
  return text(kName, "(d_model ", q_linear.weight.size(1), ", ", n_heads_, " heads",
              n_kv_heads_ == n_heads_ ? "" : text(" on ", n_kv_heads_),
              rotary_ ? ", rotary)" : ")");
}

}  // namespace gradus
