// CausalSelfAttention: fused and composed, grouped, rotary and cached, all in agreement.
#include "layers/causal_self_attention.h"

#include <string>
#include <vector>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/join.h"
#include "framework/ops/reduce.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

CausalSelfAttention small(const CausalSelfAttentionOptions& options) {
  manual_seed(1);
  CausalSelfAttention attention(options);
  attention.to(float64);
  return attention;
}

std::vector<CausalSelfAttentionOptions> variants() {
  return {{.d_model = 8, .n_heads = 2},
          {.d_model = 8, .n_heads = 2, .bias = false, .rotary = true},
          {.d_model = 8, .n_heads = 4, .n_kv_heads = 2},
          {.d_model = 8, .n_heads = 4, .n_kv_heads = 1, .rotary = true}};
}

}  // namespace

TEST_CASE("CausalSelfAttention is MultiHeadAttention with a causal mask", "[causal_attention]") {
  const CausalSelfAttention attention = small({.d_model = 8, .n_heads = 2});
  MultiHeadAttention other({.d_model = 8, .n_heads = 2});
  other.to(float64);
  other.load_state_dict(attention.state_dict());
  const Tensor x = random_normal({2, 3, 8}, 1);
  const AttentionOutput want = other(x, x, x, AttentionMask::causal(3, 3));
  const AttentionOutput got = attention(x, {.need_weights = true});
  CHECK_THAT(got.output, IsCloseTo(want.output));
  CHECK_THAT(got.weights, IsCloseTo(want.weights));
  CHECK_FALSE(attention(x).weights.defined());
}

TEST_CASE("CausalSelfAttention is the same fused and composed, also in its gradients",
          "[causal_attention]") {
  for (const CausalSelfAttentionOptions& options : variants()) {
    const CausalSelfAttention attention = small(options);
    INFO(attention.description());
    const Tensor cotangent = random_normal({2, 5, 8}, 2);
    std::vector<std::vector<Tensor>> results;
    for (const bool need_weights : {false, true}) {
      Tensor x = stored_transposed(random_normal({2, 5, 8}, 1)).detach().requires_grad_();
      attention.zero_grad();
      const Tensor y = attention(x, {.need_weights = need_weights}).output;
      sum(y * cotangent).backward();
      std::vector<Tensor> all{y, x.grad()};
      for (const Tensor& parameter : attention.parameters()) all.push_back(parameter.grad());
      results.push_back(all);
    }
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      // The keys' bias has no gradient but for rounding.
      CHECK_THAT(results[0][i], IsCloseTo(results[1][i], Tolerance{1e-10, 1e-12}));
    }
  }
}

TEST_CASE("CausalSelfAttention drops the same weights fused and composed", "[causal_attention]") {
  CausalSelfAttention attention = small({.d_model = 8, .n_heads = 2, .dropout = 0.5});
  const Tensor x = random_normal({2, 5, 8}, 1);
  manual_seed(9);
  const Tensor fused = attention(x).output;
  manual_seed(9);
  const AttentionOutput composed = attention(x, {.need_weights = true});
  CHECK_THAT(fused, IsCloseTo(composed.output));
  CHECK_THAT(composed.weights.sum({-1}), IsCloseTo(ones({2, 2, 5}, float64)));  // before dropout
  CHECK(difference(attention(x).output, attention(x).output) != "");
  attention.eval();
  CHECK_THAT(attention(x).output, IsCloseTo(attention(x).output, exactly));
}

TEST_CASE("CausalSelfAttention shares heads of keys and values among groups of queries",
          "[causal_attention]") {
  // Query heads 0 and 1 use key head 0, 2 and 3 use key head 1: rows repeated, one head each.
  const CausalSelfAttention grouped = small({.d_model = 8, .n_heads = 4, .n_kv_heads = 2});
  CHECK(grouped.k_linear.weight.shape() == Shape{4, 8});
  StateDict state = grouped.state_dict();
  for (const char* name :
       {"k_linear.weight", "k_linear.bias", "v_linear.weight", "v_linear.bias"}) {
    const Tensor rows = state.at(name);  // two heads of two features
    const Tensor first = rows.slice(0, 0, 2);
    const Tensor second = rows.slice(0, 2, 4);
    state.at(name) = cat({first, first, second, second});
  }
  CausalSelfAttention every = small({.d_model = 8, .n_heads = 4});
  every.load_state_dict(state);
  const Tensor x = random_normal({2, 3, 8}, 1);
  CHECK_THAT(grouped(x).output, IsCloseTo(every(x).output));
  CHECK_THAT(grouped(x, {.need_weights = true}).weights,
             IsCloseTo(every(x, {.need_weights = true}).weights));
}

TEST_CASE("CausalSelfAttention with rotary positions sees distances alone", "[causal_attention]") {
  // One query and one key of equal content: the further they are apart, the more they differ; the
  // same distance gives the same score wherever it is.
  const CausalSelfAttention attention = small({.d_model = 4, .n_heads = 1, .rotary = true});
  const Tensor x = random_normal({1, 1, 4}, 1).expand({1, 4, 4});
  const Tensor weights = attention(x, {.need_weights = true}).weights[0][0];
  // w[3][2] / w[3][3] = exp(score at distance 1 - score at 0) = w[1][0] / w[1][1]
  CHECK(weights.at({3, 2}) / weights.at({3, 3}) ==
        Catch::Approx(weights.at({1, 0}) / weights.at({1, 1})).epsilon(1e-12));
  CHECK(weights.at({3, 2}) != Catch::Approx(weights.at({3, 3})));
}

TEST_CASE("CausalSelfAttention continues from a cache, in pieces of any length",
          "[causal_attention]") {
  const NoGrad no_grad;
  const Tensor x = random_normal({2, 6, 8}, 1);
  for (const CausalSelfAttentionOptions& options : variants()) {
    const CausalSelfAttention attention = small(options);
    INFO(attention.description());
    const AttentionOutput whole = attention(x, {.need_weights = true});
    for (const std::vector<Index>& pieces :
         std::vector<std::vector<Index>>{{6}, {1, 1, 1, 1, 1, 1}, {2, 3, 1}, {0, 1, 5}}) {
      KeysAndValues cache;
      Index past = 0;
      for (const Index length : pieces) {
        const Tensor part = x.slice(1, past, past + length);
        KeysAndValues composed = cache;
        const AttentionOutput weighed = attention(part, {.cache = &composed, .need_weights = true});
        const Tensor y = attention(part, {.cache = &cache}).output;
        CHECK_THAT(y, IsCloseTo(whole.output.slice(1, past, past + length)));
        CHECK_THAT(weighed.output, IsCloseTo(y));
        CHECK_THAT(
            weighed.weights,
            IsCloseTo(whole.weights.slice(2, past, past + length).slice(3, 0, past + length)));
        past += length;
        CHECK(cache.length() == past);
      }
    }
  }
}

TEST_CASE("CausalSelfAttention has right first and second derivatives",
          "[causal_attention][gradcheck]") {
  for (CausalSelfAttentionOptions options : variants()) {
    options.d_model = options.n_heads * 2;
    CausalSelfAttention attention = small(options);
    INFO(attention.description());
    check_layer_gradients(attention, {stored_transposed(random_normal({2, 3, options.d_model}, 1))},
                          [&](const std::vector<Tensor>& x) { return attention(x[0]).output; });
    check_layer_gradients(attention, {random_normal({2, 3, options.d_model}, 2)},
                          [&](const std::vector<Tensor>& x) {
                            const auto [output, weights] = attention(x[0], {.need_weights = true});
                            return std::vector<Tensor>{output, weights};
                          });
  }
}

TEST_CASE("CausalSelfAttention passes gradients through its cache",
          "[causal_attention][gradcheck]") {
  const CausalSelfAttention attention =
      small({.d_model = 4, .n_heads = 2, .n_kv_heads = 1, .rotary = true});
  CHECK_GRADIENTS(
      [&](const Tensor& x) {
        KeysAndValues cache;
        const Tensor first = attention(x.slice(1, 0, 2), {.cache = &cache}).output;
        return cat({first, attention(x.slice(1, 2), {.cache = &cache}).output}, 1);
      },
      {random_normal({2, 4, 4}, 1)}, {.order = 2});
}

TEST_CASE("CausalSelfAttention takes empty batches and sequences", "[causal_attention]") {
  for (const CausalSelfAttentionOptions& options : variants()) {
    const CausalSelfAttention attention = small(options);
    CHECK(attention(zeros({0, 3, 8}, float64)).output.shape() == Shape{0, 3, 8});
    CHECK(attention(zeros({2, 0, 8}, float64)).output.shape() == Shape{2, 0, 8});
    CHECK(attention(zeros({2, 0, 8}, float64), {.need_weights = true}).weights.numel() == 0);
  }
}

TEST_CASE("CausalSelfAttention refuses what does not fit", "[causal_attention][errors]") {
  CHECK(CausalSelfAttention({.d_model = 8, .n_heads = 4, .n_kv_heads = 2, .rotary = true})
            .description() == "CausalSelfAttention(d_model 8, 4 heads on 2, rotary)");
  CHECK(error_text<ValueError>([] {
          CausalSelfAttention({.d_model = 8, .n_heads = 4, .n_kv_heads = 3});
        }) == "CausalSelfAttention: 4 query heads cannot share 3 heads of keys and values evenly");
  CHECK(error_text<ValueError>(
            [] { CausalSelfAttention({.d_model = 6, .n_heads = 2, .rotary = true}); }) ==
        "CausalSelfAttention: rotary positions turn pairs of features, and a head has 3 (6 / 2)");
  CHECK(error_text<ValueError>([] { CausalSelfAttention({.d_model = 10, .n_heads = 3}); }) ==
        "CausalSelfAttention: d_model 10 cannot be split into 3 heads (10 = 3*3 + 1)\n"
        "  hint   heads that fit 10: 1 2 5 10; a d_model that fits 3 heads: 9, 12");
}
