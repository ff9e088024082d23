// The four seed programs as Gradus writes them: every handed case of tests/goldens/seeds, with its
// outputs, its attention weights and all its gradients; then the programs' own seeded runs, from
// the seed alone.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "layers/attention.h"
#include "tests/support/catch.h"
#include "tests/support/goldens.h"
#include "tests/support/tensor_matchers.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

// ---- a case as Gradus writes it ----

struct Attention {
  std::shared_ptr<Module> layer;
  std::function<AttentionOutput(const Tensor&, const Tensor&, const Tensor&, const AttentionMask&)>
      attend;
};

template <class Layer>
Attention attention_of(std::shared_ptr<Layer> layer) {
  return {layer, [layer](const Tensor& query, const Tensor& key, const Tensor& value,
                         const AttentionMask& mask) { return (*layer)(query, key, value, mask); }};
}

/// What Gradus calls a program's parameter.
std::string own_name(const GoldenCase& golden, const std::string& name) {
  static const std::map<std::string, std::string> of_001{{"W_Q", "q_linear.weight"},
                                                         {"W_K", "k_linear.weight"},
                                                         {"W_V", "v_linear.weight"},
                                                         {"W_O", "out_linear.weight"}};
  static const std::map<std::string, std::string> of_004{
      {"W_q", "q_linear"}, {"W_k", "k_linear"}, {"W_v", "v_linear"}, {"W_o", "out_linear"}};
  if (golden.family == "seed001") return of_001.at(name);
  if (golden.family == "seed004") return of_004.at(name.substr(0, 3)) + name.substr(3);
  return name;
}

/// A parameter or its gradient as Gradus lays it out: 001 computes x @ W, with W (in, out).
Tensor own_layout(const GoldenCase& golden, const Tensor& tensor) {
  return golden.attrs.at("weight_layout") == "in,out" ? tensor.transpose(0, 1) : tensor;
}

Index heads_of(const GoldenCase& golden) {
  if (golden.family == "seed002") return 1;
  return golden.attrs.at(golden.family == "seed000" ? "n_heads" : "num_heads");
}

Attention make_attention(const GoldenCase& golden) {
  const Index d_model = golden.attrs.at("d_model");
  const bool bias = golden.attrs.at("bias");
  const Attention attention =
      golden.family == "seed002"
          ? attention_of(std::make_shared<SingleHeadAttention>(
                SingleHeadAttentionOptions{.d_model = d_model, .bias = bias}))
          : attention_of(std::make_shared<MultiHeadAttention>(MultiHeadAttentionOptions{
                .d_model = d_model, .n_heads = heads_of(golden), .bias = bias}));
  attention.layer->to(golden.dtype == "float64" ? float64 : float32);
  StateDict state;
  for (const auto& [name, tensor] : golden.params) {
    state.emplace(own_name(golden, name), own_layout(golden, tensor));
  }
  attention.layer->load_state_dict(state);
  return attention;
}

/// A (batch, k) mask is what Gradus calls padding; the other shapes it takes as they are.
AttentionMask make_mask(const GoldenCase& golden, const Tensor& given) {
  const bool hides = golden.attrs.at("mask_polarity") == "true_is_masked";
  const AttentionMask mask =
      golden.attrs.at("mask") == "2d_bk"
          ? AttentionMask::padding(hides ? given : eq(given, 0.0))
          : (hides ? AttentionMask::hide_where(given) : AttentionMask::keep_where(given));
  return mask.with_fill(number_from(golden.attrs.at("mask_fill")));
}

AttentionMask make_mask(const GoldenCase& golden) {
  if (golden.attrs.at("mask") == "none") return {};
  return make_mask(golden, golden.inputs.at("mask"));
}

// ---- what it gives ----

struct Results {
  NamedTensors outputs;  ///< by the program's names
  NamedTensors grads;    ///< likewise, "in.query", "param.W_Q"; parameters in Gradus's layout
};

/// The outputs under each mask, as `join` makes one of them, and the gradients of
/// L = sum(cot * output) over all outputs.
template <class Join>
Results run(const GoldenCase& golden, const std::vector<AttentionMask>& masks, Join join) {
  const Attention attention = make_attention(golden);
  NamedTensors inputs;
  for (const auto& [name, tensor] : golden.inputs) {
    if (name != "mask") inputs.emplace(name, tensor.detach().requires_grad_());
  }
  const bool self = golden.family == "seed004";
  const Tensor& query = inputs.at(self ? "x" : "query");
  const Tensor& key = inputs.at(self ? "x" : "key");
  const Tensor& value = inputs.at(self ? "x" : "value");

  std::vector<Tensor> outputs;
  std::vector<Tensor> weights;
  for (const AttentionMask& mask : masks) {
    const AttentionOutput attended = attention.attend(query, key, value, mask);
    outputs.push_back(attended.output);
    weights.push_back(attended.weights);
  }
  Results results;
  results.outputs = {{golden.output_names[0], join(outputs)},
                     {golden.output_names[1], join(weights)}};
  Tensor loss = zeros({}, inputs.begin()->second.dtype());
  for (const auto& [name, cotangent] : golden.cotangents) {
    loss = loss + sum(cotangent * results.outputs.at(name));
  }
  loss.backward();

  for (const auto& [name, tensor] : inputs) results.grads.emplace("in." + name, tensor.grad());
  std::map<std::string, Tensor> parameters;
  for (const auto& [name, parameter] : attention.layer->named_parameters()) {
    parameters.emplace(name, parameter);
  }
  for (const std::string& name : golden.param_names) {
    results.grads.emplace("param." + name, parameters.at(own_name(golden, name)).grad());
  }
  return results;
}

Results run(const GoldenCase& golden, const AttentionMask& mask) {
  return run(golden, {mask}, [](const std::vector<Tensor>& one) { return one[0]; });
}

void check_close(const NamedTensors& got, const NamedTensors& want, Tolerance tolerance) {
  REQUIRE(got.size() == want.size());
  for (const auto& [name, tensor] : want) {
    INFO(name);
    CHECK_THAT(got.at(name), IsCloseTo(tensor, tolerance));
  }
}

// ---- what is wanted of it ----

bool holds_nan(const Tensor& x) { return any(ne(x, x)); }

Tensor split_heads(const GoldenCase& golden, const Tensor& x) {  // (B, l, d) to (B, H, l, d / H)
  const Index heads = heads_of(golden);
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

Tensor merge_heads(const Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// Rows and columns for a product over all positions of the batch.
Tensor flat(const Tensor& x) { return x.flatten(0, -2); }

/// The gradients by what lies on the way of the values, from weights W that are zero in the rows
/// with nothing to attend to, written out (rows: all positions; g: the output's cotangent):
///
///   v = value Wv^T + bv;  context = W v;  output = context Wo^T + bo
///   dWo = g^T context;  dv = W^T (g Wo);  dvalue = dv Wv;  dWv = dv^T value;  dbv = sum(dv)
NamedTensors value_gradients(const GoldenCase& golden, const Tensor& weights) {
  const auto number = [](const Tensor& x) { return x.to(float64); };
  const bool single = golden.family == "seed002";
  const std::string projection = single ? "W_v" : "v_linear";
  const Tensor value = number(golden.inputs.at("value"));
  const Tensor Wv = number(golden.params.at(projection + ".weight"));
  const Tensor W = number(single ? weights.unsqueeze(1) : weights);
  const Tensor g = number(golden.cotangents.at("output"));
  Tensor v = matmul(value, Wv.transpose(0, 1));
  if (!single) v = v + number(golden.params.at(projection + ".bias"));

  Tensor dcontext = g;
  NamedTensors grads;
  if (!single) {
    const Tensor context = merge_heads(matmul(W, split_heads(golden, v)));
    dcontext = matmul(g, number(golden.params.at("out_linear.weight")));
    grads["param.out_linear.weight"] = matmul(flat(g).transpose(0, 1), flat(context));
  }
  const Tensor dv = merge_heads(matmul(W.transpose(-2, -1), split_heads(golden, dcontext)));
  grads["in.value"] = matmul(dv, Wv);
  grads["param." + projection + ".weight"] = matmul(flat(dv).transpose(0, 1), flat(value));
  if (!single) grads["param." + projection + ".bias"] = sum(flat(dv), {0});
  return grads;
}

/// The golden's numbers, and `other`'s where the golden holds NaN.
Tensor unless_nan(const Tensor& golden, const Tensor& other) {
  return where(eq(golden, golden), golden, other.to(golden.dtype()));
}

/// The golden as Gradus means it. NaN stands in the golden where a query may attend to nothing, and
/// in whatever such a query reaches. There Gradus wants:
///   - in the weights, 0;
///   - in the output, what follows from a context of 0: out_linear's bias (000), or 0 (002);
///   - in the gradients, what the formulas of value_gradients give with those weights. The
///     gradients by query, key and their projections are finite in the golden, and wanted as given.
Results wanted(const GoldenCase& golden) {
  Results want{golden.outputs, golden.grads};
  if (golden.flags.count("nan_expected") != 0) {
    Tensor& output = want.outputs.at("output");
    Tensor& weights = want.outputs.at(golden.output_names[1]);
    const Tensor hidden = make_mask(golden).hidden_for(weights);
    const Tensor closed = eq(sum(hidden.to(int64), {-1}, true), double(hidden.size(-1)));
    CHECK_THAT(ne(weights, weights), IsCloseTo(closed.expand(weights.shape())));
    weights = unless_nan(weights, zeros_like(weights));
    const Tensor without_context = golden.family == "seed000" ? golden.params.at("out_linear.bias")
                                                              : zeros({1}, output.dtype());
    output = unless_nan(output, without_context);
    for (const auto& [name, gradient] : value_gradients(golden, weights)) {
      CHECK(holds_nan(want.grads.at(name)));
      want.grads.at(name) = unless_nan(want.grads.at(name), gradient);
    }
  }
  for (auto& [name, gradient] : want.grads) {
    CHECK_FALSE(holds_nan(gradient));
    if (name.starts_with("param.")) gradient = own_layout(golden, gradient);
  }
  return want;
}

// ---- the cases ----

void check_case(const GoldenCase& golden) {
  const AttentionMask mask = make_mask(golden);
  const Results got = run(golden, mask);
  const Results want = wanted(golden);
  check_close(got.outputs, want.outputs, golden.tolerance);
  check_close(got.grads, want.grads, golden.tolerance);
  if (golden.attrs.at("mask") == "2d_causal") {  // the maker of this mask makes the same
    const Index q_len = golden.attrs.at("q_len");
    const Index k_len = golden.attrs.at("k_len");
    const Results causal = run(golden, AttentionMask::causal(q_len, k_len).with_fill(mask.fill()));
    check_close(causal.outputs, got.outputs, exactly);
    check_close(causal.grads, got.grads, exactly);
  }
}

/// 002.py documents a mask (batch, q, k) and applies mask.unsqueeze(1) to scores (batch, q, k). So
/// its output is (batch, batch, q, d_model), and [i, j] is sample j under the mask of sample i:
/// what is documented is the diagonal. Gradus does what is documented, so its outputs are compared
/// with the diagonal. The golden's gradients come from all of [i, j]; to compare these too, every
/// sample is put under the mask of every sample i in turn, and the runs are stacked as the program
/// does.
void check_misplaced_mask(const GoldenCase& golden) {
  const NamedTensors& in = golden.inputs;
  const Tensor& mask = in.at("mask");
  const Index batch = golden.attrs.at("batch");
  const AttentionOutput documented = make_attention(golden).attend(
      in.at("query"), in.at("key"), in.at("value"), make_mask(golden, mask));
  for (Index i = 0; i < batch; ++i) {
    INFO("sample " << i);
    CHECK_THAT(documented.output[i],
               IsCloseTo(golden.outputs.at("output")[i][i], golden.tolerance));
    CHECK_THAT(documented.weights[i],
               IsCloseTo(golden.outputs.at("attn_weights")[i][i], golden.tolerance));
  }

  std::vector<AttentionMask> of_each;
  for (Index i = 0; i < batch; ++i) of_each.push_back(make_mask(golden, mask[i]));
  const Results literal = run(golden, of_each, [](const std::vector<Tensor>& each) {
    std::vector<Tensor> stack;
    for (const Tensor& under_one : each) stack.push_back(under_one.unsqueeze(0));
    return cat(stack);
  });
  check_close(literal.outputs, golden.outputs, golden.tolerance);
  check_close(literal.grads, golden.grads, golden.tolerance);
}

GoldenCase case_named(const std::string& name) {
  for (GoldenCase& golden : read_manifest(goldens_folder("seeds"))) {
    if (golden.name != name) continue;
    load(golden);
    return golden;
  }
  FAIL("no golden case " << name);
  return {};
}

/// Parameters and inputs as Gradus drew them, under the names of the golden.
void check_drawn(const GoldenCase& golden, const NamedTensors& params, const NamedTensors& inputs) {
  const Tolerance tolerance{0.0, 1e-6};
  check_close(params, golden.params, tolerance);
  NamedTensors wanted_inputs = golden.inputs;
  wanted_inputs.erase("mask");
  check_close(inputs, wanted_inputs, tolerance);
}

NamedTensors parameters_of(const Module& layer) {
  NamedTensors params;
  for (const auto& [name, tensor] : layer.state_dict()) params.emplace(name, tensor);
  return params;
}

}  // namespace

TEST_CASE("every case of the four seed programs comes out as in the originals", "[seeds]") {
  std::map<std::string, int> checked;
  for (GoldenCase& golden : read_manifest(goldens_folder("seeds"))) {
    load(golden);
    INFO(golden.name << ": " << golden.note);
    if (golden.name == "s002_literal_mask_bqk_b3_d8_f64") {
      check_misplaced_mask(golden);
    } else {
      check_case(golden);
    }
    ++checked[golden.family];
  }
  CHECK(checked == std::map<std::string, int>{
                       {"seed000", 12}, {"seed001", 7}, {"seed002", 6}, {"seed004", 6}});
}

TEST_CASE("the run of 000.py comes out of its seed", "[seeds]") {
  manual_seed(0);
  const MultiHeadAttention attention({.d_model = 8, .n_heads = 2});
  const Tensor query = randn({2, 4, 8});
  const Tensor key = randn({2, 4, 8});
  const Tensor value = randn({2, 4, 8});
  const NamedTensors inputs{{"query", query}, {"key", key}, {"value", value}};

  for (const char* name : {"s000_demo_nomask", "s000_demo_causal"}) {
    INFO(name);
    const GoldenCase golden = case_named(name);
    check_drawn(golden, parameters_of(attention), inputs);
    const auto [output, weights] = attention(query, key, value, make_mask(golden));
    check_close({{"output", output}, {"atten_weights", weights}}, golden.outputs, {0.0, 1e-6});
  }
}

TEST_CASE("the run of 001.py comes out of its seed", "[seeds]") {
  random::Numpy numpy(42);
  const Tensor query = numpy.randn({1, 4, 8});
  const Tensor key = numpy.randn({1, 4, 8});
  const Tensor value = numpy.randn({1, 4, 8});
  NamedTensors params;
  StateDict state;
  const GoldenCase named = case_named("s001_demo");
  for (const char* name : {"W_Q", "W_K", "W_V", "W_O"}) {
    params[name] = numpy.randn({8, 8}) * 0.1;
    state[own_name(named, name)] = own_layout(named, params[name]);
  }
  MultiHeadAttention attention({.d_model = 8, .n_heads = 2, .bias = false});
  attention.to(float64);
  attention.load_state_dict(state);

  for (const char* name : {"s001_demo", "s001_demo_causal"}) {
    INFO(name);
    const GoldenCase golden = case_named(name);
    check_drawn(golden, params, {{"query", query}, {"key", key}, {"value", value}});
    const auto [output, weights] = attention(query, key, value, make_mask(golden));
    check_close({{"output", output}, {"attn_weights", weights}}, golden.outputs, golden.tolerance);
  }
}

TEST_CASE("the run of 002.py comes out of its seed", "[seeds]") {
  manual_seed(42);
  const SingleHeadAttention attention({.d_model = 8});
  const Tensor query = randn({2, 4, 8});
  const Tensor key = randn({2, 4, 8});
  const Tensor value = randn({2, 4, 8});

  const GoldenCase golden = case_named("s002_demo");
  check_drawn(golden, parameters_of(attention), {{"query", query}, {"key", key}, {"value", value}});
  const auto [output, weights] = attention(query, key, value);
  check_close({{"output", output}, {"attn_weights", weights}}, golden.outputs, {0.0, 1e-6});
}
