// scaled_dot_product_attention: beside the composed layer in every mask form, and by hand in the
// cases that other libraries got wrong.
#include "framework/ops/attention.h"

#include <cmath>
#include <string>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "layers/attention.h"
#include "tests/support/gradcheck.h"
#include "tests/support/mask_forms.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

constexpr Index kBatch = 2;
constexpr Index kHeads = 2;
constexpr Index kQueries = 3;
constexpr Index kKeys = 4;

/// A bool mask without symmetry, which hides no row altogether.
Tensor some(const Shape& shape) {
  const Index keys = shape[shape.size() - 1];
  std::vector<bool> hidden(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    hidden[i] = static_cast<Index>(i) % keys != 1 && i * i % 5 < 2;
  }
  return from_vector(hidden, shape);
}

struct Named {
  std::string name;
  AttentionMask mask;
};

std::vector<Named> mask_forms() {
  const Tensor rows_hidden = tensor({{1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}}, boolean);
  std::vector<Named> forms = {
      {"none", {}},
      {"(q, k)", AttentionMask::hide_where(some({kQueries, kKeys}))},
      {"(B, q, k)", AttentionMask::hide_where(some({kBatch, kQueries, kKeys}))},
      {"(B, 1, q, k)", AttentionMask::hide_where(some({kBatch, 1, kQueries, kKeys}))},
      {"(B, H, q, k)", AttentionMask::hide_where(some({kBatch, kHeads, kQueries, kKeys}))},
      {"(B, 1, 1, k)", AttentionMask::hide_where(some({kBatch, 1, 1, kKeys}))},
      {"keep", AttentionMask::keep_where(some({kQueries, kKeys}))},
      {"causal", AttentionMask::causal(kQueries, kKeys)},
      {"causal, lower right", AttentionMask::causal(kQueries, kKeys, kKeys - kQueries)},
      {"padding", AttentionMask::padding({2, 4}, kKeys)},
      {"causal and padding",
       AttentionMask::causal(kQueries, kKeys) | AttentionMask::padding({2, 4}, kKeys)},
      {"a row that sees nothing", AttentionMask::hide_where(rows_hidden)},
      {"a sample that sees nothing", AttentionMask::padding({0, 3}, kKeys)},
      {"finite", AttentionMask::hide_where(rows_hidden).with_fill(-1e9)},
  };
  for (const MaskForm& form : mask_forms_for(kQueries, kKeys)) {
    forms.push_back({form.name, form.mask});
  }
  return forms;
}

/// A layer whose projections leave everything as it is: its heads are slices of its input.
MultiHeadAttention bare_layer(Index width, Index heads) {
  MultiHeadAttention layer({.d_model = width, .n_heads = heads, .bias = false});
  layer.to(float64);
  for (Linear* linear : {&layer.q_linear, &layer.k_linear, &layer.v_linear, &layer.out_linear}) {
    linear->weight = eye(width, std::nullopt, float64);
  }
  return layer;
}

/// (B, H, length, d) as (B, length, H * d), and so as the layer takes it.
Tensor joined(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

Tensor of_one_head(const NestedNumbers& numbers) {
  const Tensor x = tensor(numbers, float64);
  return x.view({1, 1, x.size(0), x.size(1)});
}

/// Attention with scores of 0 over keys of these values: the means of what is seen.
Tensor means(Index queries, const NestedNumbers& values, const AttentionOptions& options = {}) {
  const Tensor value = of_one_head(values);
  const Tensor query = zeros({1, 1, queries, 1}, float64);
  const Tensor key = zeros({1, 1, value.size(2), 1}, float64);
  return scaled_dot_product_attention(query, key, value, options).flatten();
}

}  // namespace

TEST_CASE("sdpa: agrees with the layer in every mask form, gradients too", "[sdpa]") {
  const MultiHeadAttention layer = bare_layer(kHeads * 5, kHeads);
  const Tensor q = random_normal({kBatch, kHeads, kQueries, 5}, 1).requires_grad_();
  const Tensor k = random_normal({kBatch, kHeads, kKeys, 5}, 2).requires_grad_();
  const Tensor v = random_normal({kBatch, kHeads, kKeys, 5}, 3).requires_grad_();
  const Tensor g = random_normal({kBatch, kQueries, kHeads * 5}, 4);
  for (const auto& [name, mask] : mask_forms()) {
    INFO(name);
    const Tensor got = joined(scaled_dot_product_attention(q, k, v, {.mask = mask}));
    const Tensor want = layer(joined(q), joined(k), joined(v), mask).output;
    CHECK_THAT(got, IsCloseTo(want));
    const std::vector<Tensor> found = gradients({got}, {q, k, v}, {.grad_outputs = {g}});
    const std::vector<Tensor> wanted = gradients({want}, {q, k, v}, {.grad_outputs = {g}});
    for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(found[i], IsCloseTo(wanted[i]));
  }
}

TEST_CASE("sdpa: agrees with the layer in float32, in training and eval, on the tape and off",
          "[sdpa]") {
  MultiHeadAttention layer = bare_layer(kHeads * 2, kHeads);
  layer.to(float32);
  const auto drawn = [](Index length, std::uint64_t seed) {
    return random_normal({kBatch, kHeads, length, 2}, seed, float32).requires_grad_();
  };
  const std::vector<Tensor> x{drawn(kQueries, 1), drawn(kKeys, 2), drawn(kKeys, 3)};
  const auto by_function = [&](const AttentionMask& mask) {
    return joined(scaled_dot_product_attention(x[0], x[1], x[2], {.mask = mask}));
  };
  for (const auto& [name, mask] : mask_forms()) {
    INFO(name);
    const Tensor got = by_function(mask);
    const std::vector<Tensor> grads = gradients({got.sum()}, x, {.retain_graph = true});
    for (const bool training : {true, false}) {
      layer.train(training);
      const Tensor want = layer(joined(x[0]), joined(x[1]), joined(x[2]), mask).output;
      CHECK_THAT(got, IsCloseTo(want.detach(), Tolerance{1e-6, 1e-6}));
      const std::vector<Tensor> wanted = gradients({want.sum()}, x);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK_THAT(grads[i], IsCloseTo(wanted[i], Tolerance{1e-6, 1e-6}));
      }
    }
    const NoGrad no_grad;
    CHECK_THAT(by_function(mask), IsCloseTo(got.detach(), exactly));
  }
}

TEST_CASE("sdpa: gradients to second order in every mask form", "[sdpa][gradcheck]") {
  const std::vector<Tensor> inputs = {random_normal({kBatch, kHeads, kQueries, 3}, 1),
                                      random_normal({kBatch, kHeads, kKeys, 3}, 2),
                                      random_normal({kBatch, kHeads, kKeys, 2}, 3)};
  for (const auto& [name, mask] : mask_forms()) {
    INFO(name);
    for (const bool causal : {false, true}) {
      const auto attention = [&, &hidden = mask](const Tensor& q, const Tensor& k,
                                                 const Tensor& v) {
        return scaled_dot_product_attention(q, k, v, {.mask = hidden, .is_causal = causal});
      };
      CHECK_GRADIENTS(attention, inputs, {.order = 2});
    }
  }
}

// C024: width 8 in two heads of 4, and raw products of 4 and 0.
TEST_CASE("sdpa: the scale is that of a head", "[sdpa]") {
  const Tensor query = of_one_head({{1, 1, 1, 1}});
  const Tensor key = of_one_head({{1, 1, 1, 1}, {0, 0, 0, 0}});
  const Tensor value = of_one_head({{1, 0}, {0, 1}});
  const auto weights = [&](const AttentionOptions& options) {
    return scaled_dot_product_attention(query, key, value, options).flatten();
  };
  CHECK_THAT(weights({}), HasValues({0.8807970779778824, 0.11920292202211757}));
  CHECK_THAT(weights({.scale = 1}), HasValues({0.9820137900379085, 0.017986209962091555}));
  CHECK_THAT(weights({.scale = 0}), HasValues({0.5, 0.5}));
}

// C009
TEST_CASE("sdpa: a mask says what its true means", "[sdpa]") {
  const Tensor mask = tensor({{0, 1}}, boolean);
  CHECK_THAT(means(1, {{1}, {3}}, {.mask = AttentionMask::keep_where(mask)}), HasValues({3}));
  CHECK_THAT(means(1, {{1}, {3}}, {.mask = AttentionMask::hide_where(mask)}), HasValues({1}));
}

// C012: the flag aligns the upper left corner, as PyTorch's; a mask can align the other.
TEST_CASE("sdpa: causal where queries and keys differ in number", "[sdpa]") {
  const NestedNumbers five = {{1}, {2}, {3}, {4}, {5}};
  CHECK_THAT(means(2, five, {.is_causal = true}), HasValues({1, 1.5}));
  CHECK_THAT(means(2, five, {.mask = AttentionMask::causal(2, 5, 3)}), HasValues({2.5, 3}));
  CHECK_THAT(means(1, {{1}, {2}, {3}, {4}}, {.is_causal = true}), HasValues({1}));
  CHECK_THAT(means(1, {{1}, {2}, {3}, {4}}, {.mask = AttentionMask::causal(1, 4, 3)}),
             HasValues({2.5}));
  CHECK_THAT(means(3, {{1}}, {.is_causal = true}), HasValues({1, 1, 1}));
  CHECK_THAT(means(3, {{1}}, {.mask = AttentionMask::causal(3, 1, -2)}), HasValues({0, 0, 1}));
}

// C004, C013: hidden if hidden by either.
TEST_CASE("sdpa: the causal flag adds to the mask", "[sdpa]") {
  const AttentionMask padding = AttentionMask::padding(tensor({{1, 0}}, boolean));
  CHECK_THAT(means(2, {{1}, {3}}, {.mask = padding, .is_causal = true}), HasValues({0, 3}));

  const Tensor q = random_normal({kBatch, kHeads, kQueries, 5}, 1);
  const Tensor k = random_normal({kBatch, kHeads, kKeys, 5}, 2);
  const Tensor v = random_normal({kBatch, kHeads, kKeys, 5}, 3);
  const AttentionMask causal = AttentionMask::causal(kQueries, kKeys);
  for (const auto& [name, mask] : mask_forms()) {
    INFO(name);
    CHECK_THAT(scaled_dot_product_attention(q, k, v, {.mask = mask, .is_causal = true}),
               IsCloseTo(scaled_dot_product_attention(q, k, v, {.mask = mask | causal}), exactly));
  }
}

TEST_CASE("sdpa: the causal flag holds under dropout and beside other masks", "[sdpa]") {
  const Tensor q = random_normal({1, 2, 4, 3}, 1);
  const Tensor weights_from = eye(4, std::nullopt, float64).expand({1, 2, 4, 4});  // as values
  const AttentionMask masks[] = {{},
                                 AttentionMask::padding({3}, 4),
                                 AttentionMask::keep_where(ones({4, 4}, boolean)),
                                 AttentionMask::hide_where(zeros({1, 2, 4, 4}, boolean))};
  for (const AttentionMask& mask : masks) {
    for (const double p : {0.0, 0.1, 1.0}) {
      const Tensor weights = scaled_dot_product_attention(
          q, q, weights_from, {.mask = mask, .dropout_p = p, .is_causal = true});
      CHECK_THAT(triu(weights, 1), IsCloseTo(zeros({1, 2, 4, 4}, float64), exactly));
      if (p == 0) CHECK_THAT(weights[0][1][0], HasValues({1, 0, 0, 0}, exactly));
    }
  }
}

TEST_CASE("sdpa: under the causal flag no output depends on a later position", "[sdpa]") {
  Tensor x = random_normal({1, 1, 4, 3}, 1).requires_grad_();
  const Tensor y = scaled_dot_product_attention(x, x, x, {.is_causal = true});
  for (Index t = 0; t < 4; ++t) {
    const Tensor gradient = gradients({sum(y.select(2, t))}, {x}, {.retain_graph = true})[0];
    for (Index u = 0; u < 4; ++u) {
      INFO("output " << t << " by input " << u);
      CHECK(all(eq(gradient.select(2, u), 0.0)) == (u > t));
    }
  }
}

// C001: a row that sees nothing gives zeros, and is as good as absent to all gradients.
TEST_CASE("sdpa: a query that sees nothing", "[sdpa]") {
  const Tensor q = random_normal({1, 1, 3, 4}, 1).requires_grad_();
  const Tensor k = random_normal({1, 1, 4, 4}, 2).requires_grad_();
  const Tensor v = random_normal({1, 1, 4, 2}, 3).requires_grad_();
  const Tensor g = random_normal({1, 1, 3, 2}, 4);
  const Tensor hidden = tensor({{1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}}, boolean);
  const Tensor y =
      scaled_dot_product_attention(q, k, v, {.mask = AttentionMask::hide_where(hidden)});
  CHECK_THAT(y.select(2, 0), HasValues({{{0, 0}}}, exactly));
  const std::vector<Tensor> found = gradients({y}, {q, k, v}, {.grad_outputs = {g}});

  const Tensor rest = scaled_dot_product_attention(
      q.slice(2, 1), k, v, {.mask = AttentionMask::hide_where(hidden.slice(0, 1))});
  CHECK_THAT(y.slice(2, 1), IsCloseTo(rest));
  const std::vector<Tensor> wanted =
      gradients({rest}, {q, k, v}, {.grad_outputs = {g.slice(2, 1)}});
  for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(found[i], IsCloseTo(wanted[i]));
}

// C003
TEST_CASE("sdpa: one head sees nothing, the other everything", "[sdpa]") {
  const Tensor hidden = tensor({{{{1, 1}, {0, 0}}, {{0, 0}, {0, 0}}}}, boolean);
  const Tensor value = tensor({{{{1}, {3}}, {{1}, {3}}}}, float64);
  const Tensor zero = zeros({1, 2, 2, 1}, float64);
  const Tensor y =
      scaled_dot_product_attention(zero, zero, value, {.mask = AttentionMask::hide_where(hidden)});
  CHECK_THAT(y.flatten(), HasValues({0, 2, 2, 2}));
}

// C006, C007: batch and heads are never mistaken for each other.
TEST_CASE("sdpa: a mask for each sample holds for all its heads", "[sdpa]") {
  const Tensor hidden = tensor({{{0, 1}}, {{0, 0}}}, boolean);  // (B, q, k), B = H = 2
  const Tensor value = tensor({{1}, {3}}, float64).expand({2, 2, 2, 1});
  const Tensor y =
      scaled_dot_product_attention(zeros({2, 2, 1, 1}, float64), zeros({2, 2, 2, 1}, float64),
                                   value, {.mask = AttentionMask::hide_where(hidden)});
  CHECK_THAT(y.flatten(), HasValues({1, 1, 2, 2}));
}

// C025
TEST_CASE("sdpa: hidden keys are absent, whatever the scores", "[sdpa]") {
  const Tensor query = of_one_head({{1}}).to(float32);
  const Tensor key = of_one_head({{-2e9}, {0}}).to(float32);
  const Tensor value = of_one_head({{1}, {3}}).to(float32);
  const AttentionMask mask = AttentionMask::hide_where(tensor({{0, 1}}, boolean));
  CHECK_THAT(scaled_dot_product_attention(query, key, value, {.mask = mask}).flatten(),
             HasValues({1}));
  CHECK_THAT(means(1, {{1}, {3}}, {.mask = AttentionMask::hide_where(tensor({{1, 1}}, boolean))}),
             HasValues({0}));
}

TEST_CASE("sdpa: a hidden key may be anything but a NaN of value", "[sdpa]") {
  const Tensor query = of_one_head({{1, 1}});
  const Tensor key = of_one_head({{kNaN, kInf}, {0, 0}});
  const AttentionMask mask = AttentionMask::hide_where(tensor({{1, 0}}, boolean));
  CHECK_THAT(
      scaled_dot_product_attention(query, key, of_one_head({{7}, {3}}), {.mask = mask}).flatten(),
      HasValues({3}));
}

TEST_CASE("sdpa: grouped queries, head h uses key head h / group", "[sdpa]") {
  const Tensor q = random_normal({2, 6, 3, 4}, 1).requires_grad_();
  const Tensor k = random_normal({2, 2, 5, 4}, 2).requires_grad_();
  const Tensor v = random_normal({2, 2, 5, 3}, 3).requires_grad_();
  const AttentionMask mask = AttentionMask::hide_where(some({2, 6, 3, 5}));
  const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = mask, .enable_gqa = true});
  CHECK(y.shape() == Shape{2, 6, 3, 3});
  std::vector<Tensor> heads;
  for (Index h = 0; h < 6; ++h) {
    const auto one = [](const Tensor& x, Index head) { return x.slice(1, head, head + 1); };
    heads.push_back(scaled_dot_product_attention(
        one(q, h), one(k, h / 3), one(v, h / 3),
        {.mask = AttentionMask::hide_where(some({2, 6, 3, 5}).slice(1, h, h + 1))}));
  }
  const Tensor want = cat(heads, 1);
  CHECK_THAT(y, IsCloseTo(want));
  const Tensor g = random_normal({2, 6, 3, 3}, 4);
  const std::vector<Tensor> found = gradients({y}, {q, k, v}, {.grad_outputs = {g}});
  const std::vector<Tensor> wanted = gradients({want}, {q, k, v}, {.grad_outputs = {g}});
  for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(found[i], IsCloseTo(wanted[i]));

  const Tensor k6 = random_normal({2, 6, 5, 4}, 5);
  const Tensor v6 = random_normal({2, 6, 5, 3}, 6);
  CHECK_THAT(scaled_dot_product_attention(q, k6, v6, {.enable_gqa = true}),
             IsCloseTo(scaled_dot_product_attention(q, k6, v6), exactly));
}

// C015, C016
TEST_CASE("sdpa: dropout of the weights", "[sdpa]") {
  const Tensor q = random_normal({2, 2, 8, 4}, 1);
  const Tensor k = random_normal({2, 2, 8, 4}, 2);
  const Tensor v = random_normal({2, 2, 8, 4}, 3);
  const auto dropped = [&](double p) {
    return scaled_dot_product_attention(q, k, v, {.dropout_p = p});
  };
  CHECK_THAT(dropped(0), IsCloseTo(scaled_dot_product_attention(q, k, v), exactly));
  CHECK_THAT(dropped(1), IsCloseTo(zeros({2, 2, 8, 4}, float64), exactly));
  manual_seed(1);
  const Tensor first = dropped(0.5);
  CHECK(difference(dropped(0.5), first) != "");
  manual_seed(1);
  CHECK_THAT(dropped(0.5), IsCloseTo(first, exactly));

  // One key, whose weight is 1: it is gone, or 1 / (1 - p).
  const Tensor one = scaled_dot_product_attention(zeros({1, 1, 1000, 1}), zeros({1, 1, 1, 1}),
                                                  ones({1, 1, 1, 1}), {.dropout_p = 0.1});
  double kept = 0;
  for (const double weight : one.to_vector<double>()) {
    if (weight == 0) continue;
    CHECK(weight == Catch::Approx(1 / 0.9));
    ++kept;
  }
  CHECK(kept == Catch::Approx(900).margin(60));
}

// C034
TEST_CASE("sdpa: a causal mask, the same as a tensor, and the option agree", "[sdpa]") {
  const Index offset = GENERATE(-2, 0, 1, 9);
  const Tensor q = random_normal({2, 2, 3, 4}, 1);
  const Tensor k = random_normal({2, 2, 5, 4}, 2);
  const Tensor v = random_normal({2, 2, 5, 3}, 3);
  const auto attend = [&](const AttentionOptions& options) {
    return scaled_dot_product_attention(q, k, v, options);
  };
  const AttentionMask rule = AttentionMask::causal(3, 5, offset);
  const AttentionMask same = AttentionMask::hide_where(rule.hidden_for(Shape{2, 2, 3, 5}));
  const Tensor y = attend({.mask = same});
  CHECK_THAT(attend({.mask = rule}), IsCloseTo(y, exactly));
  CHECK_THAT(attend({.is_causal = true, .causal_offset = offset}), IsCloseTo(y, exactly));
  CHECK_THAT(attend({.mask = rule, .is_causal = true, .causal_offset = offset + 1}),
             IsCloseTo(y, exactly));
  CHECK_THAT(attend({.mask = AttentionMask::causal(3, 5, offset + 1),
                     .is_causal = true,
                     .causal_offset = offset}),
             IsCloseTo(y, exactly));
  CHECK_THROWS_AS(attend({.mask = AttentionMask::causal(3, 4, offset)}), ShapeError);
}

TEST_CASE("sdpa: sizes of 0", "[sdpa]") {
  const auto run = [](const Shape& q, const Shape& k, const Shape& v) {
    return scaled_dot_product_attention(zeros(q, float64), zeros(k, float64), ones(v, float64));
  };
  CHECK(run({0, 2, 3, 4}, {0, 2, 5, 4}, {0, 2, 5, 4}).shape() == Shape{0, 2, 3, 4});
  CHECK(run({1, 2, 0, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}).shape() == Shape{1, 2, 0, 4});
  CHECK_THAT(run({1, 1, 2, 4}, {1, 1, 0, 4}, {1, 1, 0, 1}).flatten(), HasValues({0, 0}));
  CHECK_THAT(run({1, 1, 2, 0}, {1, 1, 3, 0}, {1, 1, 3, 1}).flatten(), HasValues({1, 1}));
  CHECK(run({1, 1, 2, 4}, {1, 1, 3, 4}, {1, 1, 3, 0}).shape() == Shape{1, 1, 2, 0});
  CHECK(run({1, 0, 2, 4}, {1, 0, 3, 4}, {1, 0, 3, 4}).shape() == Shape{1, 0, 2, 4});
}

TEST_CASE("sdpa: what does not fit", "[sdpa][errors]") {
  const auto refused = [](const Shape& q, const Shape& k, const Shape& v, const std::string& why,
                          bool grouped = false) {
    INFO(why);
    CHECK(error_text<ShapeError>([&] {
            scaled_dot_product_attention(zeros(q), zeros(k), zeros(v), {.enable_gqa = grouped});
          }) == text("scaled_dot_product_attention: ", why, "\n  got    query ", q, ", key ", k,
                     ", value ", v, "\n  need   query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)"));
  };
  refused({2, 3, 4}, {2, 3, 4}, {2, 3, 4}, "needs four axes each");
  refused({2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, "needs four axes each");
  refused({1, 2, 3, 4}, {2, 3, 4}, {1, 2, 3, 4}, "needs four axes each");
  refused({1, 2, 3, 4}, {1, 2, 3, 4}, {2, 3, 4}, "needs four axes each");
  refused({2, 1, 3, 4}, {1, 1, 3, 4}, {1, 1, 3, 4}, "batch sizes differ");
  refused({1, 1, 3, 4}, {1, 1, 3, 4}, {2, 1, 3, 4}, "batch sizes differ");
  refused({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 1, 3, 4}, "key and value differ in heads");
  refused({1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 3, 4}, "query and key differ in features");
  refused({1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 6, 4}, "key and value differ in length");
  refused({1, 4, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4},
          "query and key differ in heads (see enable_gqa)");
  refused({1, 4, 3, 4}, {1, 3, 3, 4}, {1, 3, 3, 4}, "4 query heads cannot share 3 key heads evenly",
          true);
  refused({1, 4, 3, 4}, {1, 0, 3, 4}, {1, 0, 3, 4}, "4 query heads cannot share 0 key heads evenly",
          true);

  const Tensor x = zeros({1, 2, 3, 4});
  CHECK(error_text<ShapeError>([&] {
          scaled_dot_product_attention(x, x, x,
                                       {.mask = AttentionMask::hide_where(zeros({2, 3}, boolean))});
        }).starts_with("attention: the mask does not fit the scores\n  got    mask (2, 3) bool"));
  CHECK(error_text<DTypeError>([&] {
          scaled_dot_product_attention(x, x.to(float64), x);
        }).starts_with("scaled_dot_product_attention: float32 and float64 are not mixed"));
  CHECK(error_text<DTypeError>([&] {
          scaled_dot_product_attention(x.to(int64), x.to(int64), x.to(int64));
        }).starts_with("scaled_dot_product_attention: needs a floating tensor, not int64"));
  for (const double p : {-0.1, 1.5, kNaN}) {
    CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.dropout_p = p}), ValueError);
  }
}

TEST_CASE("sdpa: causal holds beside a mask that only makes keys unlikely") {
  const Tensor q = zeros({1, 1, 3, 2}, float64);
  const Tensor v = tensor({{{{1, 0}, {0, 1}, {100, 100}}}}, float64);
  const AttentionMask padding =
      AttentionMask::padding(tensor({{1, 0, 0}}, boolean)).with_fill(-1e9);
  const Tensor y = scaled_dot_product_attention(q, q, v, {.mask = padding, .is_causal = true});
  CHECK_THAT(y, HasValues({{{{1, 0}, {0, 1}, {50, 50.5}}}}));
}
