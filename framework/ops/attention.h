// Attention as one function and one step of the tape, beside the composed layers: in memory linear
// in the length, since the weights are never all in memory at once (FlashAttention: Dao et al.,
// 2022). Gradients that are to be differentiated again, and masks with a finite fill, take the
// composed way with the same result.
#pragma once

#include <optional>

#include "framework/ops/attention_mask.h"

namespace gradus {

struct AttentionOptions {
  AttentionMask mask{};
  double dropout_p =
      0.0;  ///< of the weights; active at once, since a function knows no train and eval
  bool is_causal = false;  ///< query i sees keys 0 .. i + causal_offset, beside what the mask hides
  Index causal_offset = 0;        ///< how many keys stand before the first query's own
  std::optional<double> scale{};  ///< 1 / sqrt(d) unless given
  bool enable_gqa = false;        ///< grouped queries: H a multiple of the heads of key and value
};

/// softmax(query key^T * scale) value: query (B, H, q, d), key (B, H, k, d), value (B, H, k, e),
/// result (B, H, q, e), laid out in memory as query is. With enable_gqa key and value have H / g
/// heads, and query head h uses head h / g of them. A query that may attend to nothing gets zeros.
/// Throws ShapeError, DTypeError, ValueError.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

}  // namespace gradus
