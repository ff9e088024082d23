// Blocks of a transformer: against PyTorch's, and by their own rules.
#include "layers/transformer.h"

#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/goldens.h"
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
    if (name.starts_with("self_attn.in_proj_")) {
      const Index rows = tensor.size(0) / 3;
      for (Index i = 0; i < 3; ++i) {
        own[std::string("self_attn.") + kRoles[i] + "." + name.substr(18)] =
            tensor.slice(0, i * rows, (i + 1) * rows);
      }
    } else if (name.starts_with("self_attn.out_proj.")) {
      own["self_attn.out_linear." + name.substr(19)] = tensor;
    } else if (name.starts_with("linear")) {
      own["feed_forward." + name] = tensor;
    } else {
      own[name] = tensor;
    }
  }
  return own;
}

AttentionMask mask_from(const GoldenCase& golden) {
  AttentionMask mask;
  if (golden.inputs.contains("src_mask")) {
    const Tensor given = golden.inputs.at("src_mask");  // bool, or numbers to be added: 0 and -inf
    mask = AttentionMask::hide_where(given.dtype() == boolean ? given : lt(given, -1e30));
  }
  if (golden.inputs.contains("src_key_padding_mask")) {
    mask = mask | AttentionMask::padding(golden.inputs.at("src_key_padding_mask"));
  }
  return mask;
}

TransformerEncoderLayer small_layer(double dropout = 0.0,
                                    Activation activation = Activation::gelu) {
  manual_seed(5);
  TransformerEncoderLayer layer({.d_model = 4,
                                 .n_heads = 2,
                                 .dim_feedforward = 5,
                                 .dropout = dropout,
                                 .activation = activation});
  layer.to(float64);
  return layer;
}

}  // namespace

TEST_CASE("TransformerEncoderLayer agrees with PyTorch's, norm first", "[transformer]") {
  int checked = 0;
  for (GoldenCase& golden : read_manifest(goldens_folder("torch"))) {
    if (golden.family != "encoder_layer" || !golden.attrs.at("norm_first").get<bool>()) continue;
    load(golden);
    INFO(golden.name);
    TransformerEncoderLayer layer({.d_model = golden.attrs.at("d_model"),
                                   .n_heads = golden.attrs.at("nhead"),
                                   .dim_feedforward = golden.attrs.at("dim_feedforward"),
                                   .dropout = golden.attrs.at("dropout"),
                                   .activation = golden.attrs.at("activation") == "gelu"
                                                     ? Activation::gelu
                                                     : Activation::relu});
    layer.to(golden.dtype == "float64" ? float64 : float32);
    const NamedTensors params = own_names(golden.params);
    layer.load_state_dict({params.begin(), params.end()});

    Tensor src = golden.inputs.at("src").detach().requires_grad_();
    const Tensor y = layer(src, mask_from(golden)).output;
    CHECK_THAT(y, IsCloseTo(golden.outputs.at("y"), golden.tolerance));
    sum(y * golden.cotangents.at("y")).backward();
    CHECK_THAT(src.grad(), IsCloseTo(golden.grads.at("in.src"), golden.tolerance));

    // A third of in_proj's gradient is held to the tolerance of the whole, as its neighbours are.
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
    ++checked;
  }
  CHECK(checked == 3);
}

TEST_CASE("TransformerEncoderLayer adds attention and a net to the stream", "[transformer]") {
  const TransformerEncoderLayer layer = small_layer();
  const Tensor x = random_normal({2, 3, 4}, 1);
  const AttentionMask mask = AttentionMask::causal(3, 3);
  const auto [y, weights] = layer(x, mask);
  const Tensor normal = layer.norm1(x);
  const auto [attended, want] = layer.self_attn(normal, normal, normal, mask);
  const Tensor middle = x + attended;
  CHECK_THAT(y, IsCloseTo(middle + layer.feed_forward(layer.norm2(middle))));
  CHECK_THAT(weights, IsCloseTo(want));
  CHECK(weights.shape() == Shape{2, 2, 3, 3});
  CHECK_THAT(layer(stored_transposed(x), mask).output, IsCloseTo(y));
}

TEST_CASE("TransformerEncoderLayer has right first and second derivatives",
          "[transformer][gradcheck]") {
  const AttentionMask masks[] = {{},
                                 AttentionMask::causal(3, 3) | AttentionMask::padding({3, 2}, 3),
                                 AttentionMask::padding({0, 3}, 3)};  // a sample without keys
  for (const AttentionMask& mask : masks) {
    TransformerEncoderLayer layer = small_layer();
    check_layer_gradients(layer, {random_normal({2, 3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
      const auto [output, weights] = layer(x[0], mask);
      return std::vector<Tensor>{output, weights};
    });
  }
  TransformerEncoderLayer relus = small_layer(0.0, Activation::relu);
  check_layer_gradients(relus, {random_normal({1, 2, 4}, 2)},
                        [&](const std::vector<Tensor>& x) { return relus(x[0]).output; });
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
  const TransformerEncoderLayer layer({.d_model = 4, .n_heads = 2, .dim_feedforward = 8});
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
