// Goldens of PyTorch: attention and the transformer's layers, by Gradus's layers where these have
// the option that the case asks for. Float masks that are added and have a gradient, bias_k and
// bias_v, and the key of zeros are composed of public ops.
//
// A query that may attend to nothing has NaN in PyTorch; in Gradus it has zero weights and gives no
// gradient. goldens_test.cpp compares such a case where PyTorch has numbers.
#include <cmath>

#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/join.h"
#include "framework/ops/linear.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "layers/attention.h"
#include "layers/transformer_layer.h"
#include "tests/goldens_torch/torch_case.h"
#include "tests/support/tensors.h"

namespace gradus::testing {
namespace {

// ---- parameters under PyTorch's names ----

/// Those of one attention: projections of query, key and value, and of the output.
struct Projections {
  std::vector<Tensor> weights;  ///< of q, k and v
  std::vector<Tensor> biases;   ///< undefined ones where there are none
  Tensor out_weight;
  Tensor out_bias;
};

Projections projections_of(const TorchCase& in, const std::string& prefix) {
  Projections p;
  const Tensor stacked = in.param(prefix + "in_proj_weight");
  p.weights = stacked.defined() ? chunk(stacked, 3)
                                : std::vector<Tensor>{in.param(prefix + "q_proj_weight"),
                                                      in.param(prefix + "k_proj_weight"),
                                                      in.param(prefix + "v_proj_weight")};
  const Tensor bias = in.param(prefix + "in_proj_bias");
  p.biases = bias.defined() ? chunk(bias, 3) : std::vector<Tensor>(3);
  p.out_weight = in.param(prefix + "out_proj.weight");
  p.out_bias = in.param(prefix + "out_proj.bias");
  return p;
}

void assign(Linear& linear, const Tensor& weight, const Tensor& bias) {
  linear.weight = weight;
  linear.bias = bias;
}
void assign(MultiHeadAttention& layer, const Projections& p) {
  assign(layer.q_linear, p.weights[0], p.biases[0]);
  assign(layer.k_linear, p.weights[1], p.biases[1]);
  assign(layer.v_linear, p.weights[2], p.biases[2]);
  assign(layer.out_linear, p.out_weight, p.out_bias);
}
void assign(LayerNorm& norm, const TorchCase& in, const std::string& name) {
  norm.weight = in.param(name + ".weight");
  norm.bias = in.param(name + ".bias");
}
void assign(FeedForward& net, const TorchCase& in) {
  assign(net.linear1, in.param("linear1.weight"), in.param("linear1.bias"));
  assign(net.linear2, in.param("linear2.weight"), in.param("linear2.bias"));
}

// ---- masks ----

/// What a case hides by bools and what it adds to the scores; either may be undefined.
struct Masks {
  AttentionMask hidden;
  Tensor added;  ///< (q, k) or (B, H, q, k)
};

/// `mask` is (q, k) or (B * H, q, k), bool or to be added; `padding` is (B, k). True is hidden.
Masks masks_from(const Tensor& mask, const Tensor& padding, Index heads) {
  Masks masks;
  if (mask.defined()) {
    const bool flat = mask.dim() == 3;
    const Tensor given =
        flat ? mask.view({mask.size(0) / heads, heads, mask.size(1), mask.size(2)}) : mask;
    if (mask.dtype() == boolean) {
      masks.hidden = AttentionMask::hide_where(given);
    } else {
      masks.added = given;
    }
  }
  if (padding.defined()) masks.hidden = masks.hidden | AttentionMask::padding(padding);
  return masks;
}

// ---- attention ----

AttentionOutput attended_by_layer(const Projections& p, Index heads, const Tensor& query,
                                  const Tensor& key, const Tensor& value,
                                  const AttentionMask& mask) {
  MultiHeadAttention layer({.d_model = p.out_weight.size(0),
                            .n_heads = heads,
                            .bias = p.out_bias.defined(),
                            .kdim = key.size(-1),
                            .vdim = value.size(-1)});
  assign(layer, p);
  return layer(query, key, value, mask);
}

/// What PyTorch appends to the projected keys and values, and masks never hide.
struct Appended {
  Tensor key;  ///< (1, 1, width), or undefined
  Tensor value;
  bool zeros = false;
};

/// x (B, length, width) with the appended rows.
Tensor with_appended(const Tensor& x, const Tensor& row, bool with_zeros) {
  const Shape one{x.size(0), 1, x.size(2)};
  std::vector<Tensor> parts{x};
  if (row.defined()) parts.push_back(row.expand(one));
  if (with_zeros) parts.push_back(zeros(one, x.dtype()));
  return cat(parts, 1);
}

AttentionOutput attended_by_ops(const Projections& p, const Appended& appended, Index heads,
                                const Tensor& query, const Tensor& key, const Tensor& value,
                                const Masks& masks) {
  const auto split_heads = [heads](const Tensor& x) {
    return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
  };
  const Index keys = key.size(1);
  const Tensor q = split_heads(linear(query, p.weights[0], p.biases[0]));
  const Tensor k = split_heads(
      with_appended(linear(key, p.weights[1], p.biases[1]), appended.key, appended.zeros));
  const Tensor v = split_heads(
      with_appended(linear(value, p.weights[2], p.biases[2]), appended.value, appended.zeros));
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / scale;

  Tensor own = masked_fill(scores.slice(-1, 0, keys), masks.hidden);
  if (masks.added.defined()) own = own + masks.added;
  const Tensor all = cat({own, scores.slice(-1, keys)}, -1);
  const Tensor weights = softmax(all, -1, WhenAllHidden::zero);
  const Tensor context = matmul(weights, v).transpose(1, 2).reshape(query.shape());
  return {linear(context, p.out_weight, p.out_bias), weights};
}

Outputs multihead_attention(const TorchCase& in) {
  const bool batched = in.flag("batched", true);
  const bool batch_first = in.flag("batch_first", true);
  const auto turned = [&](const Tensor& x) {
    if (!batched) return x.unsqueeze(0);
    return batch_first ? x : x.transpose(0, 1);
  };
  const auto turned_back = [&](const Tensor& x) {
    if (!batched) return x.squeeze(0);
    return batch_first ? x : x.transpose(0, 1);
  };
  const Tensor first = in.optional("query").defined() ? in["query"] : in["x"];
  const bool self = in.flag("self_attention", false);
  const Tensor query = turned(first);
  const Tensor key = self ? query : turned(in["key"]);
  const Tensor value = self ? query : turned(in["value"]);

  const Index heads = in.index("num_heads");
  const Projections p = projections_of(in, "");
  Tensor padding = in.optional("key_padding_mask");
  if (padding.defined() && !batched) padding = padding.unsqueeze(0);
  const Masks masks = masks_from(in.optional("attn_mask"), padding, heads);
  const Appended appended{.key = in.param("bias_k"),
                          .value = in.param("bias_v"),
                          .zeros = in.flag("add_zero_attn", false)};
  const bool fits = !masks.added.defined() && !appended.key.defined() && !appended.zeros;
  const auto [output, weights] =
      fits ? attended_by_layer(p, heads, query, key, value, masks.hidden)
           : attended_by_ops(p, appended, heads, query, key, value, masks);
  if (in.output_count() == 1) return {turned_back(output)};
  const Tensor shown = in.flag("average_attn_weights", true) ? mean(weights, {1}) : weights;
  return {turned_back(output), batched ? shown : shown.squeeze(0)};
}

/// Of a case with a formula: softmax(masked_fill(scale q k^T, mask, -inf)) v; true is hidden. Its
/// tensors are (B, length, d) or (B, H, length, d).
Outputs attention_formula(const TorchCase& in) {
  const auto four = [](const Tensor& x) { return x.dim() == 4 ? x : x.unsqueeze(1); };
  const Tensor mask = in["mask"];
  const Tensor y = scaled_dot_product_attention(
      four(in["q"]), four(in["k"]), four(in["v"]),
      {.mask = AttentionMask::hide_where(mask), .scale = in.number("scale")});
  return {in["q"].dim() == 4 ? y : y.squeeze(1)};
}

// ---- layers of the transformer ----

TransformerLayerOptions layer_options(const TorchCase& in) {
  if (!in.flag("batch_first", true)) throw std::runtime_error("needs batch_first");
  return {.d_model = in.index("d_model"),
          .n_heads = in.index("nhead"),
          .dim_feedforward = in.index("dim_feedforward"),
          .dropout = in.number("dropout"),
          .activation = in.attr("activation") == "gelu" ? Activation::gelu : Activation::relu,
          .layer_norm_eps = in.number("layer_norm_eps"),
          .norm_first = in.attr("norm_first").get<bool>()};
}

/// One attention of a layer, composed where numbers are added to its scores.
Tensor attended(const TorchCase& in, const std::string& name, const Tensor& x, const Tensor& memory,
                const Masks& masks) {
  const Projections p = projections_of(in, name + ".");
  const Index heads = in.index("nhead");
  if (!masks.added.defined()) {
    return attended_by_layer(p, heads, x, memory, memory, masks.hidden).output;
  }
  return attended_by_ops(p, {}, heads, x, memory, memory, masks).output;
}

/// A whole layer composed of its parts: `memory` is undefined for an encoder's.
Tensor layer_by_parts(const TorchCase& in, const Tensor& x, const Tensor& memory,
                      const Masks& own_masks, const Masks& memory_masks) {
  const TransformerLayerOptions options = layer_options(in);
  int norms = 0;
  const auto added = [&](const Tensor& stream, const std::function<Tensor(const Tensor&)>& f) {
    LayerNorm norm({.normalized_shape = {options.d_model}, .eps = options.layer_norm_eps});
    assign(norm, in, "norm" + std::to_string(++norms));
    return options.norm_first ? stream + f(norm(stream)) : norm(stream + f(stream));
  };
  Tensor y = added(
      x, [&](const Tensor& seen) { return attended(in, "self_attn", seen, seen, own_masks); });
  if (memory.defined()) {
    y = added(y, [&](const Tensor& seen) {
      return attended(in, "multihead_attn", seen, memory, memory_masks);
    });
  }
  return added(y, [&](const Tensor& seen) {
    FeedForward net({.d_model = options.d_model,
                     .d_hidden = options.dim_feedforward,
                     .activation = options.activation});
    assign(net, in);
    return net(seen);
  });
}

Outputs encoder_layer(const TorchCase& in) {
  const Masks masks =
      masks_from(in.optional("src_mask"), in.optional("src_key_padding_mask"), in.index("nhead"));
  if (masks.added.defined()) return {layer_by_parts(in, in["src"], {}, masks, {})};
  TransformerEncoderLayer layer(layer_options(in));
  assign(layer.self_attn, projections_of(in, "self_attn."));
  assign(layer.feed_forward, in);
  assign(layer.norm1, in, "norm1");
  assign(layer.norm2, in, "norm2");
  return {layer(in["src"], masks.hidden).output};
}

Outputs decoder_layer(const TorchCase& in) {
  const Index heads = in.index("nhead");
  const Masks masks =
      masks_from(in.optional("tgt_mask"), in.optional("tgt_key_padding_mask"), heads);
  const Masks memory_masks =
      masks_from(in.optional("memory_mask"), in.optional("memory_key_padding_mask"), heads);
  if (masks.added.defined() || memory_masks.added.defined()) {
    return {layer_by_parts(in, in["tgt"], in["memory"], masks, memory_masks)};
  }
  TransformerDecoderLayer layer(layer_options(in));
  assign(layer.self_attn, projections_of(in, "self_attn."));
  assign(layer.multihead_attn, projections_of(in, "multihead_attn."));
  assign(layer.feed_forward, in);
  assign(layer.norm1, in, "norm1");
  assign(layer.norm2, in, "norm2");
  assign(layer.norm3, in, "norm3");
  return {layer(in["tgt"], in["memory"], masks.hidden, memory_masks.hidden).output};
}

}  // namespace

TorchOps torch_attention() {
  return {{"MultiheadAttention", multihead_attention},
          {"attention", attention_formula},
          {"TransformerEncoderLayer", encoder_layer},
          {"TransformerDecoderLayer", decoder_layer}};
}

}  // namespace gradus::testing
