// ONNX's attentions: Attention, composed of public ops with all its options (past, soft cap,
// grouped heads, masks that add, masks too short, lengths without padding, the scores as an
// output), the attentions flex and linear, and rotary positions. What scaled_dot_product_attention
// can say of Attention it must say alike.
#include "framework/ops/attention.h"

#include <array>
#include <cmath>
#include <string>

#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/join.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/rotary.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/goldens_onnx/onnx_case.h"
#include "tests/support/tensors.h"

namespace gradus::testing {
namespace {

// ---- heads ----

/// (batch, length, heads * size) as (batch, heads, length, size).
Tensor split_heads(const Tensor& x, Index heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}
Tensor join_heads(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

/// Each head of x once for every query head that shares it.
Tensor share_heads(const Tensor& x, Index q_heads) {
  const Index sharers = q_heads / x.size(1);
  return x.unsqueeze(2).expand({x.size(0), x.size(1), sharers, x.size(2), x.size(3)}).flatten(1, 2);
}

// ---- Attention ----

/// The inputs of Attention with heads, the cached keys and values before the new ones.
struct QueryKeyValue {
  explicit QueryKeyValue(const OnnxCase& in)
      : packed(in[0].dim() == 3),
        query(packed ? split_heads(in[0], in.attr<Index>("q_num_heads", 1)) : in[0]),
        key(packed ? split_heads(in[1], in.attr<Index>("kv_num_heads", 1)) : in[1]),
        value(packed ? split_heads(in[2], in.attr<Index>("kv_num_heads", 1)) : in[2]) {
    if (!in[4].defined()) return;
    past = in[4].size(2);
    key = cat({in[4], key}, 2);
    value = cat({in[5], value}, 2);
  }
  double scale(const OnnxCase& in) const {
    return in.attr("scale", 1 / std::sqrt(static_cast<double>(query.size(3))));
  }

  bool packed;
  Tensor query, key, value;
  Index past = 0;
};

/// What the mask adds to the scores; keys that it is too short for are hidden.
Tensor added_by_mask(const Tensor& mask, Index k_len, DType dtype) {
  const Tensor added =
      mask.dtype() == boolean ? masked_fill(zeros({}, dtype), logical_not(mask), -kInf) : mask;
  Shape missing = added.shape();
  missing[missing.size() - 1] = k_len - added.size(-1);
  return cat({added, full(missing, -kInf, dtype)}, -1);
}

/// Keys hidden by where they stand, as padding or in the future: (batch or 1, 1, q, k).
Tensor hidden_by_place(const OnnxCase& in, const QueryKeyValue& qkv) {
  const Tensor j = places(qkv.key.size(2));
  const Tensor i = places(qkv.query.size(2)).unsqueeze(-1);
  Tensor hidden = zeros({1, 1, i.numel(), j.numel()}, boolean);
  Tensor offset = full({}, static_cast<double>(qkv.past), int64);
  if (in[6].defined()) {
    const Tensor lengths = in[6].reshape({-1, 1, 1, 1});
    offset = lengths - static_cast<double>(i.numel());
    hidden = logical_or(hidden, ge(j, lengths));
  }
  return in.flag("is_causal", false) ? logical_or(hidden, gt(j, i + offset)) : hidden;
}

Outputs attention(const OnnxCase& in) {
  const QueryKeyValue qkv(in);
  const Index heads = qkv.query.size(1);
  const Tensor key = share_heads(qkv.key, heads);
  const double softcap = in.attr("softcap", 0.0);

  const Tensor scaled = matmul(qkv.query, key.transpose(-1, -2)) * qkv.scale(in);
  const Tensor capped = softcap > 0 ? tanh(scaled / softcap) * softcap : scaled;
  Tensor masked = masked_fill(capped, hidden_by_place(in, qkv), -kInf);
  if (in[3].defined()) masked = masked + added_by_mask(in[3], key.size(2), key.dtype());
  const Tensor weights = softmax(masked, -1, WhenAllHidden::zero);
  const Tensor y = matmul(weights, share_heads(qkv.value, heads));

  const std::array<Tensor, 4> stages = {scaled, capped, masked, weights};
  return {qkv.packed ? join_heads(y) : y, qkv.key, qkv.value,
          stages.at(in.attr<std::size_t>("qk_matmul_output_mode", 0))};
}

/// Whether scaled_dot_product_attention has all that the case asks for.
bool is_scaled_dot_product(const OnnxCase& in) {
  const bool mask_adds = in[3].defined() && in[3].dtype() != boolean;
  return !mask_adds && in.attr("softcap", 0.0) == 0;
}

Tensor scaled_dot_product(const OnnxCase& in) {
  const QueryKeyValue qkv(in);
  AttentionMask mask = AttentionMask::hide_where(hidden_by_place(in, qkv));
  if (in[3].defined()) mask = mask | AttentionMask::keep_where(in[3]);
  const Tensor y = scaled_dot_product_attention(
      qkv.query, qkv.key, qkv.value, {.mask = mask, .scale = qkv.scale(in), .enable_gqa = true});
  return qkv.packed ? join_heads(y) : y;
}

// ---- other attentions ----

Outputs flex_attention(const OnnxCase& in) {
  return {scaled_dot_product_attention(in[0], in[1], in[2], {.enable_gqa = true})};
}

/// A state (key size, value size) per head, to which each step adds key x value: what the rule
/// calls gated fades first, and delta adds only what the state does not yet answer to the key.
Outputs linear_attention(const OnnxCase& in) {
  const auto q_heads = in.attr<Index>("q_num_heads", 1);
  const auto kv_heads = in.attr<Index>("kv_num_heads", 1);
  const std::string rule = in.attr("update_rule", "gated_delta");
  const bool gated = rule.find("gated") != std::string::npos;
  const bool delta = rule.find("delta") != std::string::npos;
  const Tensor q = split_heads(in[0], q_heads);
  const Tensor k = split_heads(in[1], kv_heads);
  const Tensor v = split_heads(in[2], kv_heads);
  Tensor state = in[3].defined() ? in[3] : zeros({q.size(0), kv_heads, k.size(3), v.size(3)});

  std::vector<Tensor> y;
  for (Index t = 0; t < q.size(2); ++t) {
    const auto at_t = [t](const Tensor& x) { return x.slice(2, t, t + 1); };
    const Tensor key = at_t(k).transpose(-1, -2);
    Tensor value = at_t(v);
    if (gated) state = state * exp(at_t(split_heads(in[4], kv_heads))).transpose(-1, -2);
    if (delta) {
      value = (value - matmul(at_t(k), state)) * at_t(split_heads(in[5], kv_heads));
    }
    state = state + matmul(key, value);
    y.push_back(matmul(at_t(q), share_heads(state, q_heads)));
  }
  const double scale = in.attr("scale", 1 / std::sqrt(static_cast<double>(q.size(3))));
  return {join_heads(cat(y, 2)) * scale, state};
}

/// Of each head the first rotary_embedding_dim features turn, by angles given for each place or
/// looked up by position.
Outputs rotary(const OnnxCase& in) {
  const bool packed = in[0].dim() == 3;
  const Tensor x = packed ? split_heads(in[0], in.attr<Index>("num_heads", 1)) : in[0];
  const auto of_all_heads = [&in](const Tensor& angles) {
    return (in[3].defined() ? embedding(in[3], angles) : angles).unsqueeze(1);
  };
  const auto asked = in.attr<Index>("rotary_embedding_dim", 0);
  const Index turning = asked > 0 ? asked : x.size(3);
  const Tensor turned = rotary_embedding(
      x.slice(3, 0, turning), of_all_heads(in[1]), of_all_heads(in[2]),
      in.flag("interleaved", false) ? RotaryPairs::interleaved : RotaryPairs::halves);
  const Tensor y = cat({turned, x.slice(3, turning)}, -1);
  return {packed ? join_heads(y) : y};
}

}  // namespace

OnnxOps onnx_attention() {
  return {
      {"Attention", attention},
      {"FlexAttention", flex_attention},
      {"LinearAttention", linear_attention},
      {"RotaryEmbedding", rotary},
  };
}

}  // namespace gradus::testing

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("goldens: scaled_dot_product_attention agrees with ONNX's Attention") {
  int compared = 0;
  const std::vector<GoldenCase> goldens = onnx_goldens();
  for (const GoldenCase& golden : goldens) {
    const OnnxCase in(golden);
    if (golden.op != "Attention" || !golden.unsupported.empty() || !is_scaled_dot_product(in)) {
      continue;
    }
    INFO(golden.name);
    CHECK_THAT(scaled_dot_product(in), IsCloseTo(golden.outputs.at("Y"), golden.tolerance));
    ++compared;
  }
  CHECK((goldens.empty() || compared == 19));
}
