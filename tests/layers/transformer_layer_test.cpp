// Blocks of a transformer: against PyTorch's, and by their own rules.
#include "layers/transformer_layer.h"

#include <string>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/join.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/finite.h"
#include "tests/support/goldens.h"
#include "tests/support/mask_forms.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

constexpr const char* kRoles[] = {"q_linear", "k_linear", "v_linear"};

/// PyTorch's parameters, or their gradients, under Gradus's names: in_proj is q, k and v stacked.
NamedTensors own_names(const NamedTensors& theirs) {
  NamedTensors own;
  for (const auto& [name, tensor] : theirs) {
    const std::string layer = name.substr(0, name.find('.'));  // self_attn, norm1 ...
    const std::string rest = name.substr(layer.size() + 1);
    if (rest.starts_with("in_proj_")) {
      const Index rows = tensor.size(0) / 3;
      for (Index i = 0; i < 3; ++i) {
        own[layer + "." + kRoles[i] + "." + rest.substr(8)] =
            tensor.slice(0, i * rows, (i + 1) * rows);
      }
    } else if (rest.starts_with("out_proj.")) {
      own[layer + ".out_linear." + rest.substr(9)] = tensor;
    } else {
      own[name] = tensor;
    }
  }
  return own;
}

/// The masks "src_mask" and "src_key_padding_mask" for "src_", as one.
AttentionMask mask_from(const GoldenCase& golden, const std::string& prefix) {
  AttentionMask mask;
  if (golden.inputs.contains(prefix + "mask")) {
    // bool, or numbers to be added: 0 and -inf
    const Tensor given = golden.inputs.at(prefix + "mask").detach();
    mask = AttentionMask::hide_where(given.dtype() == boolean ? given : lt(given, -1e30));
  }
  if (golden.inputs.contains(prefix + "key_padding_mask")) {
    mask = mask | AttentionMask::padding(golden.inputs.at(prefix + "key_padding_mask"));
  }
  return mask;
}

TransformerLayerOptions options_from(const GoldenCase& golden) {
  return {
      .d_model = golden.attrs.at("d_model"),
      .n_heads = golden.attrs.at("nhead"),
      .dim_feedforward = golden.attrs.at("dim_feedforward"),
      .dropout = golden.attrs.at("dropout"),
      .activation = golden.attrs.at("activation") == "gelu" ? Activation::gelu : Activation::relu,
      .layer_norm_eps = golden.attrs.at("layer_norm_eps"),
      .norm_first = golden.attrs.at("norm_first")};
}

/// Gives the layer the parameters of the case, by name, as a checkpoint would.
void load_parameters(Module& layer, const GoldenCase& golden) {
  layer.to(golden.dtype == "float64" ? float64 : float32);
  const NamedTensors params = own_names(golden.params);
  layer.load_state_dict({params.begin(), params.end()});
}

/// The gradients that backward() left in the layer, against those of the case. A third of in_proj's
/// is held to the tolerance of the whole, as its neighbours are.
void check_parameter_gradients(const Module& layer, const GoldenCase& golden) {
  NamedTensors grads;
  for (const auto& [name, tensor] : layer.named_parameters()) grads[name] = tensor.grad();
  for (const auto& [name, want] : golden.grads) {
    if (!name.starts_with("param.")) continue;
    INFO(name);
    std::vector<Tensor> parts;
    for (const auto& [own, part] : own_names({{name.substr(6), want}})) {
      parts.push_back(grads.at(own));
    }
    const bool stacked = parts.size() == 3;  // by name: k, q, v
    CHECK_THAT(stacked ? cat({parts[1], parts[0], parts[2]}) : parts[0],
               IsCloseTo(want, golden.tolerance));
  }
}

TransformerEncoderLayer small_layer(double dropout = 0.0, Activation activation = Activation::gelu,
                                    bool norm_first = true) {
  manual_seed(5);
  TransformerEncoderLayer layer({.d_model = 4,
                                 .n_heads = 2,
                                 .dim_feedforward = 5,
                                 .dropout = dropout,
                                 .activation = activation,
                                 .norm_first = norm_first});
  layer.to(float64);
  return layer;
}

TransformerDecoderLayer small_decoder(bool norm_first, double dropout = 0.0) {
  manual_seed(6);
  TransformerDecoderLayer layer({.d_model = 4,
                                 .n_heads = 2,
                                 .dim_feedforward = 5,
                                 .dropout = dropout,
                                 .activation = Activation::gelu,
                                 .norm_first = norm_first});
  layer.to(float64);
  return layer;
}

}  // namespace

TEST_CASE("TransformerEncoderLayer agrees with PyTorch's, by parameter names", "[transformer]") {
  int checked = 0;
  for (GoldenCase& golden : read_manifest(goldens_folder("torch"))) {
    if (golden.family != "encoder_layer") continue;
    load(golden);
    INFO(golden.name);
    TransformerEncoderLayer layer(options_from(golden));
    load_parameters(layer, golden);

    Tensor src = golden.inputs.at("src").detach().requires_grad_();
    const Tensor y = layer(src, mask_from(golden, "src_")).output;
    CHECK_THAT(y, IsCloseTo(golden.outputs.at("y"), golden.tolerance));
    sum(y * golden.cotangents.at("y")).backward();
    CHECK_THAT(src.grad(), IsCloseTo(golden.grads.at("in.src"), golden.tolerance));
    check_parameter_gradients(layer, golden);
    ++checked;
  }
  CHECK(checked == 7);
}

TEST_CASE("TransformerDecoderLayer agrees with PyTorch's, by parameter names", "[transformer]") {
  int checked = 0;
  for (GoldenCase& golden : read_manifest(goldens_folder("torch"))) {
    if (golden.family != "decoder_layer") continue;
    load(golden);
    INFO(golden.name);
    TransformerDecoderLayer layer(options_from(golden));
    load_parameters(layer, golden);

    Tensor tgt = golden.inputs.at("tgt").detach().requires_grad_();
    Tensor memory = golden.inputs.at("memory").detach().requires_grad_();
    const Tensor y =
        layer(tgt, memory, mask_from(golden, "tgt_"), mask_from(golden, "memory_")).output;
    CHECK_THAT(y, IsCloseTo(golden.outputs.at("y"), golden.tolerance));
    sum(y * golden.cotangents.at("y")).backward();
    CHECK_THAT(tgt.grad(), IsCloseTo(golden.grads.at("in.tgt"), golden.tolerance));
    CHECK_THAT(memory.grad(), IsCloseTo(golden.grads.at("in.memory"), golden.tolerance));
    check_parameter_gradients(layer, golden);
    ++checked;
  }
  CHECK(checked == 5);
}

TEST_CASE("TransformerEncoderLayer adds attention and a net to the stream", "[transformer]") {
  const TransformerEncoderLayer layer = small_layer();
  const Tensor x = random_normal({2, 3, 4}, 1);
  const AttentionMask mask = AttentionMask::causal(3, 3);
  const auto [y, weights] = layer(x, mask, true);
  const Tensor normal = layer.norm1(x);
  const auto [attended, want] = layer.self_attn(normal, normal, normal, mask);
  const Tensor middle = x + attended;
  CHECK_THAT(y, IsCloseTo(middle + layer.feed_forward(layer.norm2(middle))));
  CHECK_THAT(weights, IsCloseTo(want));
  CHECK(weights.shape() == Shape{2, 2, 3, 3});
  CHECK_THAT(layer(stored_transposed(x), mask).output, IsCloseTo(y));
}

TEST_CASE("TransformerEncoderLayer norms the sum where the norm comes last", "[transformer]") {
  const TransformerEncoderLayer layer = small_layer(0.0, Activation::relu, false);
  const Tensor x = random_normal({2, 3, 4}, 1);
  const AttentionMask mask = AttentionMask::causal(3, 3);
  const auto [y, weights] = layer(x, mask, true);
  const auto [attended, want] = layer.self_attn(x, x, x, mask);
  const Tensor middle = layer.norm1(x + attended);
  CHECK_THAT(y, IsCloseTo(layer.norm2(middle + layer.feed_forward(middle))));
  CHECK_THAT(weights, IsCloseTo(want));
}

TEST_CASE("TransformerDecoderLayer attends to itself, then to the memory", "[transformer]") {
  const Tensor x = random_normal({2, 3, 4}, 1);
  const Tensor memory = random_normal({2, 5, 4}, 2);
  const AttentionMask causal = AttentionMask::causal(3, 3);
  const AttentionMask padding = AttentionMask::padding({5, 2}, 5);
  SECTION("norm first") {
    const TransformerDecoderLayer layer = small_decoder(true);
    const auto [y, self_weights, cross_weights] = layer(x, memory, causal, padding, true);
    const Tensor seen = layer.norm1(x);
    const AttentionOutput own = layer.self_attn(seen, seen, seen, causal);
    const Tensor first = x + own.output;
    const AttentionOutput cross = layer.multihead_attn(layer.norm2(first), memory, memory, padding);
    const Tensor second = first + cross.output;
    CHECK_THAT(y, IsCloseTo(second + layer.feed_forward(layer.norm3(second))));
    CHECK_THAT(self_weights, IsCloseTo(own.weights));
    CHECK_THAT(cross_weights, IsCloseTo(cross.weights));
    CHECK(cross_weights.shape() == Shape{2, 2, 3, 5});
  }
  SECTION("norm last") {
    const TransformerDecoderLayer layer = small_decoder(false);
    const Tensor y = layer(x, memory, causal, padding).output;
    const Tensor first = layer.norm1(x + layer.self_attn(x, x, x, causal).output);
    const Tensor second =
        layer.norm2(first + layer.multihead_attn(first, memory, memory, padding).output);
    CHECK_THAT(y, IsCloseTo(layer.norm3(second + layer.feed_forward(second))));
  }
}

TEST_CASE("TransformerDecoderLayer lets no later position through, but all of the memory",
          "[transformer]") {
  const TransformerDecoderLayer layer = small_decoder(true);
  const AttentionMask causal = AttentionMask::causal(4, 4);
  const Tensor x = random_normal({1, 4, 4}, 1);
  const Tensor memory = random_normal({1, 2, 4}, 2);
  const Tensor changed = cat({x.slice(1, 0, 3), random_normal({1, 1, 4}, 3)}, 1);
  const Tensor before = layer(x, memory, causal).output;
  CHECK_THAT(layer(changed, memory, causal).output.slice(1, 0, 3),
             IsCloseTo(before.slice(1, 0, 3), exactly));
  CHECK(difference(layer(x, -memory, causal).output.slice(1, 0, 1), before.slice(1, 0, 1)) != "");
}

TEST_CASE("TransformerDecoderLayer has right first and second derivatives",
          "[transformer][gradcheck]") {
  for (const bool norm_first : {true, false}) {
    TransformerDecoderLayer layer = small_decoder(norm_first);
    check_layer_gradients(layer, {random_normal({2, 3, 4}, 1), random_normal({2, 2, 4}, 2)},
                          [&](const std::vector<Tensor>& x) {
                            // The second sample sees nothing of the memory.
                            return layer(x[0], x[1], AttentionMask::causal(3, 3),
                                         AttentionMask::padding({2, 0}, 2))
                                .output;
                          });
  }
}

TEST_CASE("TransformerDecoderLayer drops out in training only, and takes empty batches",
          "[transformer]") {
  TransformerDecoderLayer layer = small_decoder(true, 0.5);
  const Tensor x = random_normal({2, 3, 4}, 1);
  const Tensor memory = random_normal({2, 5, 4}, 2);
  CHECK(difference(layer(x, memory).output, layer(x, memory).output) != "");
  layer.eval();
  CHECK_THAT(layer(x, memory).output, IsCloseTo(small_decoder(true)(x, memory).output, exactly));
  CHECK(layer(x.slice(0, 0, 0), memory.slice(0, 0, 0)).output.shape() == Shape{0, 3, 4});
  const Tensor alone = layer(x, memory.slice(1, 0, 0)).output;  // nothing to remember
  CHECK_THAT(alone, IsCloseTo(layer(x, memory, {}, AttentionMask::padding({0, 0}, 5)).output));
  CHECK(error_text<ShapeError>([&] {
          layer(x, zeros({2, 5, 6}, float64));
        }) ==
        "MultiHeadAttention: key does not fit\n"
        "  got    key (2, 5, 6) float64\n"
        "  need   (batch, length, 4)");
}

TEST_CASE("TransformerEncoderLayer has right first and second derivatives",
          "[transformer][gradcheck]") {
  const AttentionMask masks[] = {{},
                                 AttentionMask::causal(3, 3) | AttentionMask::padding({3, 2}, 3),
                                 AttentionMask::padding({0, 3}, 3)};  // a sample without keys
  for (const AttentionMask& mask : masks) {
    TransformerEncoderLayer layer = small_layer();
    check_layer_gradients(layer, {random_normal({2, 3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
      const auto [output, weights] = layer(x[0], mask, true);
      return std::vector<Tensor>{output, weights};
    });
  }
  TransformerEncoderLayer norms_last = small_layer(0.0, Activation::gelu, false);
  check_layer_gradients(norms_last, {random_normal({2, 3, 4}, 3)},
                        [&](const std::vector<Tensor>& x) {
                          return norms_last(x[0], AttentionMask::causal(3, 3)).output;
                        });
  TransformerEncoderLayer relus = small_layer(0.0, Activation::relu);
  check_layer_gradients(relus, {random_normal({1, 2, 4}, 2)},
                        [&](const std::vector<Tensor>& x) { return relus(x[0]).output; });
}

// ---- every form of mask; sizes of 0 and 1 ----

TEST_CASE("TransformerEncoderLayer has right first and second derivatives under every mask",
          "[transformer][gradcheck]") {
  bool norm_first = true;
  for (const MaskForm& form : mask_forms_for(3, 3)) {
    INFO(form.name << (norm_first ? ", norm first" : ", norm last"));
    TransformerEncoderLayer layer = small_layer(0.0, Activation::gelu, norm_first);
    check_layer_gradients(layer, {random_normal({2, 3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
      const auto [output, weights] = layer(x[0], form.mask, true);
      return std::vector<Tensor>{output, weights};
    });
    norm_first = !norm_first;
  }
}

TEST_CASE("TransformerDecoderLayer has right first and second derivatives under every mask",
          "[transformer][gradcheck]") {
  const std::vector<MaskForm> own = mask_forms_for(3, 3);
  const std::vector<MaskForm> of_memory = mask_forms_for(3, 4);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const MaskForm& memory_form = of_memory[(i + 7) % of_memory.size()];
    const bool norm_first = i % 2 == 0;
    INFO(own[i].name << ", of the memory " << memory_form.name
                     << (norm_first ? ", norm first" : ", norm last"));
    TransformerDecoderLayer layer = small_decoder(norm_first);
    check_layer_gradients(
        layer, {random_normal({2, 3, 4}, 1), random_normal({2, 4, 4}, 2)},
        [&](const std::vector<Tensor>& x) {
          const auto result = layer(x[0], x[1], own[i].mask, memory_form.mask, true);
          return std::vector<Tensor>{result.output, result.self_weights, result.cross_weights};
        });
  }
}

TEST_CASE("transformer layers stay finite over nothing, one, and rows that see nothing",
          "[transformer]") {
  for (const bool norm_first : {true, false}) {
    const TransformerEncoderLayer encoder = small_layer(0.0, Activation::gelu, norm_first);
    const TransformerDecoderLayer decoder = small_decoder(norm_first);
    for (const Index batch : {0, 1, 2}) {
      for (const Index length : {0, 1, 3}) {
        for (const Index hidden_lengths : {0, 1}) {
          INFO(batch << " samples, length " << length << ", all hidden " << hidden_lengths);
          const AttentionMask causal =
              AttentionMask::causal(length, length, hidden_lengths ? -length : 0);
          const Tensor x = random_normal({batch, length, 4}, 1);
          check_finite([&](const std::vector<Tensor>& in) { return encoder(in[0], causal).output; },
                       {x});
          for (const Index remembered : {0, 1, 4}) {
            const AttentionMask padding = AttentionMask::padding(
                full({batch, remembered}, static_cast<double>(hidden_lengths), boolean));
            check_finite(
                [&](const std::vector<Tensor>& in) {
                  return decoder(in[0], in[1], causal, padding).output;
                },
                {x, random_normal({batch, remembered, 4}, 2)});
          }
        }
      }
    }
  }
}

TEST_CASE("transformer layers keep the samples of a batch apart", "[transformer]") {
  const TransformerEncoderLayer encoder = small_layer();
  const TransformerDecoderLayer decoder = small_decoder(true);
  const Tensor x = random_normal({3, 5, 4}, 1);
  const Tensor memory = random_normal({3, 2, 4}, 2);
  const Tensor changed = cat({x.slice(0, 0, 2), random_normal({1, 5, 4}, 3)});
  const Tensor other_memory = cat({memory.slice(0, 0, 2), random_normal({1, 2, 4}, 4)});
  CHECK_THAT(encoder(changed).output.slice(0, 0, 2),
             IsCloseTo(encoder(x).output.slice(0, 0, 2), exactly));
  CHECK_THAT(decoder(changed, other_memory).output.slice(0, 0, 2),
             IsCloseTo(decoder(x, memory).output.slice(0, 0, 2), exactly));
  CHECK(difference(encoder(changed).output[2], encoder(x).output[2]) != "");
}

TEST_CASE("under a causal mask no output of a transformer layer depends on a later position",
          "[transformer]") {
  const AttentionMask causal = AttentionMask::causal(4, 4);
  Tensor x = random_normal({1, 4, 4}, 1).requires_grad_();
  const Tensor outputs[] = {small_layer()(x, causal).output,
                            small_layer(0.0, Activation::relu, false)(x, causal).output,
                            small_decoder(true)(x, random_normal({1, 2, 4}, 2), causal).output};
  for (const Tensor& y : outputs) {
    for (Index t = 0; t < 4; ++t) {
      const Tensor gradient = gradients({sum(y.select(1, t))}, {x}, {.retain_graph = true})[0];
      const Tensor later = gradient.slice(1, t + 1);
      CHECK_THAT(later, IsCloseTo(zeros_like(later), exactly));
    }
  }
}

TEST_CASE("TransformerEncoderLayer lets no later position through a causal mask", "[transformer]") {
  const TransformerEncoderLayer layer = small_layer();
  const AttentionMask causal = AttentionMask::causal(4, 4);
  const Tensor x = random_normal({1, 4, 4}, 1);
  const Tensor changed = cat({x.slice(1, 0, 3), random_normal({1, 1, 4}, 2)}, 1);
  const Tensor before = layer(x, causal).output;
  const Tensor after = layer(changed, causal).output;
  CHECK_THAT(after.slice(1, 0, 3), IsCloseTo(before.slice(1, 0, 3), exactly));
  CHECK(difference(after.slice(1, 3), before.slice(1, 3)) != "");
}

TEST_CASE("TransformerEncoderLayer drops out in training only", "[transformer]") {
  TransformerEncoderLayer layer = small_layer(0.5);
  const Tensor x = random_normal({2, 3, 4}, 1);
  CHECK(difference(layer(x).output, layer(x).output) != "");
  layer.eval();
  CHECK_THAT(layer(x).output, IsCloseTo(layer(x).output, exactly));
  CHECK_THAT(layer(x).output, IsCloseTo(small_layer()(x).output, exactly));

  const TransformerEncoderLayer all = small_layer(1.0);  // nothing is added to the stream
  CHECK_THAT(all(x).output, IsCloseTo(x, exactly));
}

TEST_CASE("TransformerEncoderLayer takes empty batches and refuses other widths",
          "[transformer][errors]") {
  const TransformerEncoderLayer layer(
      {.d_model = 4, .n_heads = 2, .dim_feedforward = 8, .norm_first = true});
  Tensor x = zeros({0, 3, 4}).requires_grad_();
  const Tensor y = layer(x).output;
  CHECK(y.shape() == Shape{0, 3, 4});
  y.sum().backward();
  CHECK(x.grad().shape() == Shape{0, 3, 4});
  CHECK(error_text<ShapeError>([&] {
          layer(zeros({2, 3, 6}));
        }) ==
        "layer_norm: the last axes of x are not (4,)\n"
        "  got    x (2, 3, 6) float32");
  CHECK(error_text<ShapeError>([&] {
          layer(zeros({3, 4}));
        }) ==
        "MultiHeadAttention: query does not fit\n"
        "  got    query (3, 4) float32\n"
        "  need   (batch, length, 4)");
  CHECK(error_text<ValueError>([] { TransformerEncoderLayer({.d_model = 6, .n_heads = 4}); }) ==
        "MultiHeadAttention: d_model 6 cannot be split into 4 heads (6 = 4*1 + 2)\n"
        "  hint   heads that fit 6: 1 2 3 6; a d_model that fits 4 heads: 4, 8");
}

TEST_CASE("the transformer's layers start from PyTorch's defaults, and say so", "[transformer]") {
  const TransformerLayerOptions defaults{.d_model = 4, .n_heads = 2};
  CHECK(defaults.dim_feedforward == 2048);
  CHECK(defaults.dropout == 0.1);
  CHECK(defaults.activation == Activation::relu);
  CHECK(defaults.layer_norm_eps == 1e-5);
  CHECK_FALSE(defaults.norm_first);
  CHECK(defaults.bias);
  CHECK(TransformerEncoderLayer(defaults).description() ==
        "TransformerEncoderLayer(relu, post-norm)");
  CHECK(TransformerDecoderLayer(
            {.d_model = 4, .n_heads = 2, .activation = Activation::swiglu, .norm_first = true})
            .description() == "TransformerDecoderLayer(swiglu, pre-norm)");
}

TEST_CASE("the transformer's layers have PyTorch's names, but for attention's projections",
          "[transformer]") {
  const auto names_of = [](const Module& layer) {
    std::vector<std::string> names;
    for (const auto& [name, parameter] : layer.named_parameters()) {
      if (name.find("attn") == std::string::npos) names.push_back(name);
    }
    return names;
  };
  TransformerLayerOptions options{.d_model = 4, .n_heads = 2, .dim_feedforward = 8};
  CHECK(names_of(TransformerEncoderLayer(options)) ==
        std::vector<std::string>{"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
                                 "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"});
  CHECK(names_of(TransformerDecoderLayer(options)) ==
        std::vector<std::string>{"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
                                 "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias",
                                 "norm3.weight", "norm3.bias"});
  const StateDict state = TransformerDecoderLayer(options).state_dict();
  for (const char* attention : {"self_attn", "multihead_attn"}) {
    for (const char* linear : {"q_linear", "k_linear", "v_linear", "out_linear"}) {
      CHECK(state.contains(std::string(attention) + "." + linear + ".weight"));
      CHECK(state.contains(std::string(attention) + "." + linear + ".bias"));
    }
  }

  options.bias = false;
  options.activation = Activation::swiglu;
  CHECK(names_of(TransformerEncoderLayer(options)) ==
        std::vector<std::string>{"linear1.weight", "linear_gate.weight", "linear2.weight",
                                 "norm1.weight", "norm2.weight"});
  for (const auto& [name, parameter] : TransformerDecoderLayer(options).named_parameters()) {
    CHECK(name.ends_with(".weight"));
  }
}

TEST_CASE("the transformer's layers take swiglu, without biases", "[transformer][gradcheck]") {
  const TransformerLayerOptions options{.d_model = 4,
                                        .n_heads = 2,
                                        .dim_feedforward = 3,
                                        .dropout = 0.0,
                                        .activation = Activation::swiglu,
                                        .bias = false};
  manual_seed(7);
  TransformerEncoderLayer encoder(options);
  encoder.to(float64);
  check_layer_gradients(encoder, {random_normal({2, 3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
    return encoder(x[0], AttentionMask::causal(3, 3)).output;
  });
  TransformerDecoderLayer decoder(options);
  decoder.to(float64);
  check_layer_gradients(decoder, {random_normal({2, 3, 4}, 1), random_normal({2, 2, 4}, 2)},
                        [&](const std::vector<Tensor>& x) { return decoder(x[0], x[1]).output; });
}
