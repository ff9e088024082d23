// Attention, single and multi-head: values against the formula written out number by number, and
// gradients to second order, under every form of mask; then what other libraries got wrong.
#include "layers/attention.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/no_grad.h"
#include "framework/autograd/trace.h"
#include "framework/core/error.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/join.h"
#include "framework/ops/masking.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "framework/optim/adam.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/finite.h"
#include "tests/support/mask_forms.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Every form of mask for three queries and four keys, and causal ones for other sizes.
std::vector<MaskForm> mask_forms() {
  std::vector<MaskForm> forms = mask_forms_for(3, 4);
  const Hides later = [](Index, Index, Index q, Index k) { return k > q; };
  forms.push_back({"causal", AttentionMask::causal(4, 4), later, 4, 4});
  forms.push_back(
      {"causal, more queries, aligned above", AttentionMask::causal(5, 3), later, 5, 3});
  forms.push_back({"causal, more queries, aligned below: two see nothing",
                   AttentionMask::causal(5, 3, -2),
                   [](Index, Index, Index q, Index k) { return k > q - 2; }, 5, 3});
  return forms;
}

MaskForm mask_form(const std::string& name) {
  for (const MaskForm& form : mask_forms()) {
    if (form.name == name) return form;
  }
  throw std::out_of_range(name);
}

// ---- the formula, number by number ----

using Numbers = std::vector<double>;

/// x (B, l, in) by weight (out, in) and bias: [b][position][out], row-major.
Numbers projected(const Linear& projection, const Tensor& x) {
  const Index out = projection.weight.size(0);
  Numbers y;
  for (Index b = 0; b < x.size(0); ++b) {
    for (Index i = 0; i < x.size(1); ++i) {
      for (Index o = 0; o < out; ++o) {
        double sum = projection.bias.defined() ? projection.bias.at({o}) : 0.0;
        for (Index f = 0; f < x.size(2); ++f) sum += x.at({b, i, f}) * projection.weight.at({o, f});
        y.push_back(sum);
      }
    }
  }
  return y;
}

/// The softmax of some scores, -inf meaning absent: zeros where all are.
Numbers weights_of(const Numbers& scores) {
  double largest = -kInf;
  double total = 0.0;
  for (const double score : scores) largest = std::max(largest, score);
  Numbers weights;
  for (const double score : scores) {
    weights.push_back(largest == -kInf ? 0.0 : std::exp(score - largest));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total > 0 ? total : 1.0;
  return weights;
}

/// What attention with these projections must give: weights (B, H, q, k) and context (B, q, d).
struct ByHand {
  Tensor weights;
  Tensor context;
};

ByHand by_hand(const Linear& q_linear, const Linear& k_linear, const Linear& v_linear, Index heads,
               const std::vector<Tensor>& x, const MaskForm& form) {
  const Numbers q = projected(q_linear, x[0]);
  const Numbers k = projected(k_linear, x[1]);
  const Numbers v = projected(v_linear, x[2]);
  const Index batch = x[0].size(0);
  const Index queries = x[0].size(1);
  const Index keys = x[1].size(1);
  const Index d_model = q_linear.weight.size(0);
  const Index d_head = d_model / heads;
  const auto at = [&](const Numbers& y, Index length, Index b, Index i, Index h, Index f) {
    return y[static_cast<std::size_t>((b * length + i) * d_model + h * d_head + f)];
  };
  Numbers all_weights;
  Numbers context(static_cast<std::size_t>(batch * queries * d_model), 0.0);
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < queries; ++i) {
        Numbers scores;
        for (Index j = 0; j < keys; ++j) {
          double dot = 0.0;
          for (Index f = 0; f < d_head; ++f) {
            dot += at(q, queries, b, i, h, f) * at(k, keys, b, j, h, f);
          }
          scores.push_back(form.hides(b, h, i, j) ? form.mask.fill()
                                                  : dot / std::sqrt(double(d_head)));
        }
        const Numbers weights = weights_of(scores);
        all_weights.insert(all_weights.end(), weights.begin(), weights.end());
        for (Index f = 0; f < d_head; ++f) {
          double& sum =
              context[static_cast<std::size_t>((b * queries + i) * d_model + h * d_head + f)];
          for (Index j = 0; j < keys; ++j) {
            sum += weights[static_cast<std::size_t>(j)] * at(v, keys, b, j, h, f);
          }
        }
      }
    }
  }
  return {from_vector(all_weights, {batch, heads, queries, keys}),
          from_vector(context, {batch, queries, d_model})};
}

/// Query, key and value for a form of mask.
std::vector<Tensor> inputs_for(const MaskForm& form, Index d_model) {
  return {random_normal({2, form.queries, d_model}, 1), random_normal({2, form.keys, d_model}, 2),
          random_normal({2, form.keys, d_model}, 3)};
}

template <class Attention>
std::vector<Tensor> attended(const Attention& attention, const std::vector<Tensor>& x,
                             const AttentionMask& mask = {}) {
  const auto [output, weights] = attention(x[0], x[1], x[2], mask);
  return {output, weights};
}

MultiHeadAttention two_heads(Index d_model = 4) {
  manual_seed(42);
  MultiHeadAttention attention({.d_model = d_model, .n_heads = 2});
  attention.to(float64);
  return attention;
}

SingleHeadAttention one_head(Index d_model = 3, bool bias = false) {
  manual_seed(42);
  SingleHeadAttention attention({.d_model = d_model, .bias = bias});
  attention.to(float64);
  return attention;
}

// ---- attention whose numbers can be worked out in the head ----

Tensor identity(Index size, DType dtype) {
  const Tensor index = arange(static_cast<double>(size));
  return eq(index.unsqueeze(0), index.unsqueeze(1)).to(dtype);
}

/// Multi-head attention with no biases whose projections all pass their input on.
MultiHeadAttention plain_attention(Index d_model, Index n_heads, double dropout = 0.0,
                                   DType dtype = float64) {
  MultiHeadAttention attention(
      {.d_model = d_model, .n_heads = n_heads, .dropout = dropout, .bias = false});
  attention.to(dtype);
  const NoGrad no_grad;
  for (Tensor weight : attention.parameters()) {
    weight.copy_(identity(d_model, dtype));
  }
  return attention;
}

/// Keys whose scores are all 0, for any query.
Tensor zero_keys(const Tensor& value) { return zeros_like(value); }

}  // namespace

// ---- values ----

TEST_CASE("multi-head attention is its formula under every mask", "[attention]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    MultiHeadAttention attention = two_heads();
    const std::vector<Tensor> x = inputs_for(form, 4);
    const ByHand want =
        by_hand(attention.q_linear, attention.k_linear, attention.v_linear, 2, x, form);
    const auto [output, weights] = attention(x[0], x[1], x[2], form.mask);
    CHECK_THAT(weights, IsCloseTo(want.weights));
    CHECK_THAT(output, IsCloseTo(attention.out_linear(want.context)));

    attention.to(float32);
    const auto [output32, weights32] =
        attention(x[0].to(float32), x[1].to(float32), x[2].to(float32), form.mask);
    CHECK_THAT(weights32, IsCloseTo(want.weights.to(float32)));
    CHECK_THAT(output32, IsCloseTo(output.to(float32)));
  }
}

TEST_CASE("single-head attention is its formula under every mask", "[attention]") {
  for (const MaskForm& form : mask_forms()) {
    if (form.of_heads) continue;
    INFO(form.name);
    for (const bool bias : {false, true}) {
      const SingleHeadAttention attention = one_head(3, bias);
      const std::vector<Tensor> x = inputs_for(form, 3);
      const ByHand want = by_hand(attention.W_q, attention.W_k, attention.W_v, 1, x, form);
      const auto [output, weights] = attention(x[0], x[1], x[2], form.mask);
      CHECK_THAT(weights, IsCloseTo(want.weights.squeeze(1)));
      CHECK_THAT(output, IsCloseTo(want.context));
    }
  }
}

TEST_CASE("a hidden key has a weight of exactly 0, and the others share 1", "[attention]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    const Tensor weights = attended(two_heads(), inputs_for(form, 4), form.mask)[1];
    for (Index b = 0; b < 2; ++b) {
      for (Index h = 0; h < 2; ++h) {
        for (Index q = 0; q < form.queries; ++q) {
          Index hidden = 0;
          double total = 0.0;
          double total_hidden = 0.0;
          for (Index k = 0; k < form.keys; ++k) {
            const double weight = weights.at({b, h, q, k});
            total += weight;
            if (!form.hides(b, h, q, k)) continue;
            total_hidden += weight;
            ++hidden;
          }
          const bool closed = hidden == form.keys;
          const bool filled = std::isfinite(form.mask.fill());
          CHECK(total_hidden ==
                (closed && filled ? Catch::Approx(1.0) : Catch::Approx(0.0).margin(0)));
          CHECK(total == (closed && !filled ? Catch::Approx(0.0).margin(0) : Catch::Approx(1.0)));
        }
      }
    }
  }
}

// ---- gradients ----

TEST_CASE("multi-head attention has right first and second derivatives under every mask",
          "[attention][gradcheck]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    MultiHeadAttention attention = two_heads();
    check_layer_gradients(attention, inputs_for(form, 4), [&](const std::vector<Tensor>& x) {
      return attended(attention, x, form.mask);
    });
  }
}

TEST_CASE("single-head attention has right first and second derivatives under every mask",
          "[attention][gradcheck]") {
  for (const MaskForm& form : mask_forms()) {
    if (form.of_heads) continue;
    INFO(form.name);
    SingleHeadAttention attention = one_head();
    check_layer_gradients(attention, inputs_for(form, 3), [&](const std::vector<Tensor>& x) {
      return attended(attention, x, form.mask);
    });
  }
}

TEST_CASE("attention to keys and values of other widths has right derivatives",
          "[attention][gradcheck]") {
  manual_seed(3);
  MultiHeadAttention attention({.d_model = 4, .n_heads = 2, .kdim = 3, .vdim = 5});
  attention.to(float64);
  check_layer_gradients(
      attention,
      {random_normal({2, 2, 4}, 1), random_normal({2, 3, 3}, 2), random_normal({2, 3, 5}, 3)},
      [&](const std::vector<Tensor>& x) { return attended(attention, x); });
}

TEST_CASE("self-attention has right derivatives, through one tensor in three places",
          "[attention][gradcheck]") {
  MultiHeadAttention attention = two_heads();
  check_layer_gradients(
      attention, {random_normal({2, 3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
        return attended(attention, {x[0], x[0], x[0]}, AttentionMask::causal(3, 3));
      });
}

TEST_CASE("a query that may attend to nothing contributes nothing, to second order",
          "[attention]") {
  const MultiHeadAttention attention = two_heads();
  std::vector<Tensor> x{random_normal({2, 3, 4}, 1), random_normal({2, 4, 4}, 2),
                        random_normal({2, 4, 4}, 3)};
  for (Tensor& input : x) input.requires_grad_();
  // Query 1 of sample 0 sees nothing; sample 1 is open.
  const Tensor hidden =
      mask_of({2, 1, 3, 4}, [](Index b, Index, Index q, Index) { return b == 0 && q == 1; });
  const auto [output, weights] = attention(x[0], x[1], x[2], AttentionMask::hide_where(hidden));
  CHECK_THAT(weights[0].select(1, 1), IsCloseTo(zeros({2, 4}, float64), exactly));
  CHECK_THAT(output[0][1], IsCloseTo(attention.out_linear.bias.detach(), exactly));

  // A loss of all queries, and one of all but the closed one, differ by a constant only.
  const Tensor cotangent = random_normal(output.shape(), 4);
  const Tensor open = logical_not(hidden.select(3, 0).squeeze(1)).unsqueeze(-1).to(float64);
  std::vector<Tensor> parameters{x[0],
                                 x[1],
                                 x[2],
                                 attention.q_linear.weight,
                                 attention.q_linear.bias,
                                 attention.k_linear.weight,
                                 attention.v_linear.weight,
                                 attention.v_linear.bias,
                                 attention.out_linear.weight};
  const auto of_all = gradients({sum(cotangent * output)}, parameters, {.create_graph = true});
  const auto of_open =
      gradients({sum(cotangent * open * output)}, parameters, {.create_graph = true});
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    INFO("input " << i);
    CHECK_THAT(of_all[i], IsCloseTo(of_open[i].detach()));
  }
  CHECK_THAT(of_all[0][0][1], IsCloseTo(zeros({4}, float64), exactly));

  Tensor all = zeros({}, float64);
  for (const Tensor& gradient : of_all) all = all + sum(gradient * gradient);
  const auto second = gradients({all}, parameters);
  for (const Tensor& gradient : second) CHECK(all_finite(gradient));
  CHECK_THAT(second[0][0][1], IsCloseTo(zeros({4}, float64), exactly));
}

// ---- the same numbers by other ways ----

TEST_CASE("strided inputs give what contiguous ones do", "[attention]") {
  const MaskForm form = mask_form("hide (B,H,q,k)");
  const MultiHeadAttention attention = two_heads();
  std::vector<Tensor> x = inputs_for(form, 4);
  std::vector<Tensor> y;
  for (Tensor& input : x) {
    y.push_back(stored_transposed(input).requires_grad_());
    input.requires_grad_();
    REQUIRE_FALSE(y.back().is_contiguous());
  }
  const auto want = attended(attention, x, form.mask);
  const auto got = attended(attention, y, form.mask);
  CHECK_THAT(got[0], IsCloseTo(want[0].detach()));
  CHECK_THAT(got[1], IsCloseTo(want[1].detach()));
  const Tensor cotangent = random_normal(got[0].shape(), 4);
  sum(want[0] * cotangent).backward();
  sum(got[0] * cotangent).backward();
  for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(y[i].grad(), IsCloseTo(x[i].grad()));
}

TEST_CASE("one head of multi-head attention is single-head attention", "[attention]") {
  MultiHeadAttention many({.d_model = 4, .n_heads = 1, .bias = false});
  SingleHeadAttention single({.d_model = 4});
  many.load_state_dict({{"q_linear.weight", single.W_q.weight},
                        {"k_linear.weight", single.W_k.weight},
                        {"v_linear.weight", single.W_v.weight},
                        {"out_linear.weight", identity(4, float32)}});
  const std::vector<Tensor> x{random_normal({2, 3, 4}, 1, float32),
                              random_normal({2, 5, 4}, 2, float32),
                              random_normal({2, 5, 4}, 3, float32)};
  const auto a = attended(many, x, AttentionMask::causal(3, 5));
  const auto b = attended(single, x, AttentionMask::causal(3, 5));
  CHECK_THAT(a[0], IsCloseTo(b[0]));
  CHECK_THAT(a[1].squeeze(1), IsCloseTo(b[1]));
}

TEST_CASE("attention takes batches and sequences without elements", "[attention]") {
  MultiHeadAttention many = two_heads();
  const SingleHeadAttention single = one_head(4);
  SECTION("no samples") {
    Tensor query = zeros({0, 3, 4}, float64).requires_grad_();
    const Tensor key = zeros({0, 5, 4}, float64);
    const auto [output, weights] = many(query, key, key, AttentionMask::causal(3, 5));
    CHECK(output.shape() == Shape{0, 3, 4});
    CHECK(weights.shape() == Shape{0, 2, 3, 5});
    sum(output).backward();
    CHECK(query.grad().shape() == Shape{0, 3, 4});
    CHECK_THAT(many.k_linear.weight.grad(), IsCloseTo(zeros({4, 4}, float64), exactly));
    CHECK(single(query, key, key).output.shape() == Shape{0, 3, 4});
  }
  SECTION("no queries") {
    const Tensor key = random_normal({2, 5, 4}, 1);
    CHECK(many(zeros({2, 0, 4}, float64), key, key).output.shape() == Shape{2, 0, 4});
    CHECK(single(zeros({2, 0, 4}, float64), key, key).weights.shape() == Shape{2, 0, 5});
  }
  SECTION("no keys: nothing to attend to") {
    Tensor query = random_normal({2, 3, 4}, 1).requires_grad_();
    const Tensor key = zeros({2, 0, 4}, float64);
    const auto [output, weights] = many(query, key, key);
    CHECK(weights.shape() == Shape{2, 2, 3, 0});
    CHECK_THAT(output, IsCloseTo(many.out_linear.bias.detach().expand({2, 3, 4}), exactly));
    CHECK_THAT(single(query, key, key).output, IsCloseTo(zeros({2, 3, 4}, float64), exactly));
    sum(output).backward();
    CHECK_THAT(query.grad(), IsCloseTo(zeros({2, 3, 4}, float64), exactly));
  }
}

TEST_CASE("attention starts as PyTorch's modules do, layer by layer", "[attention]") {
  manual_seed(42);
  const MultiHeadAttention many({.d_model = 6, .n_heads = 3, .kdim = 4, .vdim = 2});
  const SingleHeadAttention single({.d_model = 5});
  manual_seed(42);
  const Linear q(6, 6), k(4, 6), v(2, 6), out(6, 6);
  const Linear W_q(5, 5, false), W_k(5, 5, false), W_v(5, 5, false);
  CHECK_THAT(many.q_linear.weight, IsCloseTo(q.weight, exactly));
  CHECK_THAT(many.q_linear.bias, IsCloseTo(q.bias, exactly));
  CHECK_THAT(many.k_linear.weight, IsCloseTo(k.weight, exactly));
  CHECK_THAT(many.v_linear.weight, IsCloseTo(v.weight, exactly));
  CHECK_THAT(many.out_linear.weight, IsCloseTo(out.weight, exactly));
  CHECK_THAT(many.out_linear.bias, IsCloseTo(out.bias, exactly));
  CHECK_THAT(single.W_q.weight, IsCloseTo(W_q.weight, exactly));
  CHECK_THAT(single.W_k.weight, IsCloseTo(W_k.weight, exactly));
  CHECK_THAT(single.W_v.weight, IsCloseTo(W_v.weight, exactly));
}

TEST_CASE("attention prints what it is made of", "[attention]") {
  std::ostringstream out;
  out << MultiHeadAttention({.d_model = 8, .n_heads = 2, .dropout = 0.1, .kdim = 4}) << "\n"
      << SingleHeadAttention({.d_model = 8});
  CHECK(out.str() ==
        "MultiHeadAttention(d_model 8, 2 heads) (\n"
        "  (q_linear): Linear(8, 8)\n"
        "  (k_linear): Linear(4, 8)\n"
        "  (v_linear): Linear(8, 8)\n"
        "  (out_linear): Linear(8, 8)\n"
        "  (fill_hidden): MaskedFill\n"
        "  (softmax): Softmax(axis -1)\n"
        "  (dropout): Dropout(0.1)\n"
        ")\n"
        "SingleHeadAttention(d_model 8) (\n"
        "  (W_q): Linear(8, 8, no bias)\n"
        "  (W_k): Linear(8, 8, no bias)\n"
        "  (W_v): Linear(8, 8, no bias)\n"
        "  (fill_hidden): MaskedFill\n"
        "  (softmax): Softmax(axis -1)\n"
        "  (dropout): Dropout(0)\n"
        ")");
}

// ---- sizes of 0 and 1, and rows that see nothing, on every path ----

namespace {

struct Sizes {
  Index batch;
  Index queries;
  Index keys;
};

/// One way to attend: from query, key and value (B, length, width) to one tensor.
struct Path {
  const char* name;
  Index width;
  std::function<Tensor(const std::vector<Tensor>&, const AttentionMask&)> attend;
};

/// The layers with their parameters as they start, and the function with heads two wide.
std::vector<Path> paths() {
  const auto many = [](Index d_model, Index n_heads) {
    manual_seed(7);
    auto layer = std::make_shared<MultiHeadAttention>(
        MultiHeadAttentionOptions{.d_model = d_model, .n_heads = n_heads});
    layer->to(float64);
    return [layer](const std::vector<Tensor>& x, const AttentionMask& mask) {
      const auto [output, weights] = (*layer)(x[0], x[1], x[2], mask);
      return cat({output.flatten(), weights.flatten()});
    };
  };
  const auto single = [](const std::vector<Tensor>& x, const AttentionMask& mask) {
    const auto [output, weights] = one_head(4)(x[0], x[1], x[2], mask);
    return cat({output.flatten(), weights.flatten()});
  };
  const auto function = [](Index heads) {
    return [heads](const std::vector<Tensor>& x, const AttentionMask& mask) {
      const auto split = [heads](const Tensor& t) {
        return t.view({t.size(0), t.size(1), heads, t.size(2) / heads}).transpose(1, 2);
      };
      return scaled_dot_product_attention(split(x[0]), split(x[1]), split(x[2]), {.mask = mask});
    };
  };
  return {{"two heads", 4, many(4, 2)},     {"heads of width 1", 3, many(3, 3)},
          {"one head", 4, many(4, 1)},      {"a single head", 4, single},
          {"the function", 4, function(2)}, {"the function, heads of width 1", 3, function(3)}};
}

/// Masks that fit any sizes: some close every row, or all rows but some.
std::vector<std::pair<std::string, AttentionMask>> masks_for(const Sizes& n) {
  return {
      {"none", {}},
      {"causal", AttentionMask::causal(n.queries, n.keys)},
      {"causal, aligned below", AttentionMask::causal(n.queries, n.keys, n.keys - n.queries)},
      {"nothing seen", AttentionMask::causal(n.queries, n.keys, -n.queries)},
      {"(B,q,k), all hidden",
       AttentionMask::hide_where(ones({n.batch, n.queries, n.keys}, boolean))},
      {"padding, all of it",
       AttentionMask::padding(std::vector<Index>(static_cast<std::size_t>(n.batch), 0), n.keys)},
      {"padding | causal", AttentionMask::padding(ones({n.batch, n.keys}, boolean)) |
                               AttentionMask::causal(n.queries, n.keys)}};
}

}  // namespace

TEST_CASE("attention to and from nothing or one, and with nothing seen, is finite to second order",
          "[attention]") {
  const Sizes all_sizes[] = {{0, 3, 4}, {2, 0, 4}, {2, 3, 0}, {0, 0, 0}, {2, 0, 0},
                             {2, 1, 1}, {1, 1, 3}, {1, 3, 1}, {2, 3, 4}};
  for (const Path& path : paths()) {
    for (const Sizes& n : all_sizes) {
      for (const auto& [name, mask] : masks_for(n)) {
        INFO(path.name << ", " << n.batch << " samples, " << n.queries << " queries, " << n.keys
                       << " keys, mask " << name);
        const auto attend = [&, &hidden = mask](const std::vector<Tensor>& x) {
          return path.attend(x, hidden);
        };
        check_finite(attend, {random_normal({n.batch, n.queries, path.width}, 1),
                              random_normal({n.batch, n.keys, path.width}, 2),
                              random_normal({n.batch, n.keys, path.width}, 3)});
      }
    }
  }
}

TEST_CASE("attention with nothing seen is zero, and so are its gradients", "[attention]") {
  const Sizes n{2, 3, 4};
  for (const auto& [name, mask] : masks_for(n)) {
    if (name == "none" || name.starts_with("causal")) continue;
    INFO(name);
    for (const Path& path : paths()) {
      INFO(path.name);
      const auto attend = [&, &hidden = mask](const std::vector<Tensor>& x) {
        return path.attend(x, hidden);
      };
      const std::vector<Tensor> found = check_finite(
          attend, {random_normal({2, 3, path.width}, 1), random_normal({2, 4, path.width}, 2),
                   random_normal({2, 4, path.width}, 3)});
      for (std::size_t i = 1; i < 4; ++i) {
        CHECK_THAT(found[i], IsCloseTo(zeros_like(found[i]), exactly));
      }
    }
  }
}

TEST_CASE("a closed row spoils nothing in float32 either, to second order", "[attention]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    MultiHeadAttention attention = two_heads();
    std::vector<Tensor> x = inputs_for(form, 4);
    const auto attend = [&](const std::vector<Tensor>& in) {
      return attended(attention, in, form.mask)[0];
    };
    const std::vector<Tensor> want = check_finite(attend, x);
    attention.to(float32);
    for (Tensor& input : x) input = input.to(float32);
    const std::vector<Tensor> got = check_finite(attend, x);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK_THAT(got[i], IsCloseTo(want[i].to(float32), Tolerance{1e-5, 1e-6}));
    }
  }
}

TEST_CASE("dropping out every weight leaves the output projection's bias, and no gradients",
          "[attention]") {
  MultiHeadAttention attention({.d_model = 4, .n_heads = 2, .dropout = 1.0});
  attention.to(float64);
  std::vector<Tensor> x{random_normal({2, 3, 4}, 1), random_normal({2, 5, 4}, 2),
                        random_normal({2, 5, 4}, 3)};
  for (Tensor& input : x) input.requires_grad_();
  const auto [output, weights] = attention(x[0], x[1], x[2]);
  CHECK_THAT(output, IsCloseTo(attention.out_linear.bias.detach().expand({2, 3, 4}), exactly));
  CHECK_THAT(sum(weights, {-1}), IsCloseTo(ones({2, 2, 3}, float64)));
  sum(output).backward();
  for (const Tensor& input : x) CHECK_THAT(input.grad(), IsCloseTo(zeros_like(input), exactly));
}

TEST_CASE("the weights returned in training add up to 1, whatever was dropped", "[attention]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    MultiHeadAttention dropping({.d_model = 4, .n_heads = 2, .dropout = 0.5});
    MultiHeadAttention keeping({.d_model = 4, .n_heads = 2});
    keeping.load_state_dict(dropping.state_dict());
    dropping.to(float64);
    keeping.to(float64);
    const std::vector<Tensor> x = inputs_for(form, 4);
    CHECK_THAT(attended(dropping, x, form.mask)[1],
               IsCloseTo(attended(keeping, x, form.mask)[1], exactly));
  }
}

// ---- without weights, by scaled_dot_product_attention ----

TEST_CASE("multi-head attention without weights is the same under every mask", "[attention]") {
  const DType dtype = GENERATE(float32, float64);
  const double dropout = GENERATE(0.0, 0.4);
  MultiHeadAttention attention({.d_model = 4, .n_heads = 2, .dropout = dropout});
  attention.to(dtype);
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name << ", " << dtype << ", dropout " << dropout);
    std::vector<Tensor> x = inputs_for(form, 4);
    for (Tensor& input : x) input = input.to(dtype).requires_grad_();
    std::vector<Tensor> by = x;
    for (const Tensor& parameter : attention.parameters()) by.push_back(parameter);
    const Tensor g = random_normal({2, form.queries, 4}, 4, dtype);
    const auto results = [&](bool need_weights) {
      manual_seed(9);
      const auto [output, weights] = attention(x[0], x[1], x[2], form.mask, need_weights);
      CHECK(weights.defined() == need_weights);
      const std::vector<Tensor> first =
          gradients({output}, by, {.grad_outputs = {g}, .create_graph = true});
      std::vector<Tensor> all =
          gradients({output}, by, {.grad_outputs = {g}, .retain_graph = true});
      if (dtype == float64) {  // the second ones of biases are 0 but for rounding, large in float32
        Tensor squares = sum(first[0] * first[0]);
        for (std::size_t i = 1; i < first.size(); ++i) squares = squares + sum(first[i] * first[i]);
        for (const Tensor& second : gradients({squares}, by, {.allow_unused = true}))
          all.push_back(second);
      }
      all.insert(all.end(), first.begin(), first.end());
      const NoGrad no_grad;  // and where nothing is recorded
      manual_seed(9);
      all.push_back(attention(x[0], x[1], x[2], form.mask, need_weights).output);
      all.push_back(output);
      return all;
    };
    const std::vector<Tensor> got = results(false);
    const std::vector<Tensor> want = results(true);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK_THAT(got[i].detach(), IsCloseTo(want[i].detach()));
    }
  }
}

TEST_CASE("multi-head attention of one tensor to itself is the same without weights",
          "[attention]") {
  MultiHeadAttention attention(
      {.d_model = 4, .n_heads = 2, .dropout = 0.3, .bias = GENERATE(true, false)});
  attention.to(float64);
  const Tensor x = random_normal({2, 5, 4}, 1).requires_grad_();
  std::vector<Tensor> by = attention.parameters();
  by.push_back(x);
  for (const MaskForm& form : mask_forms_for(5, 5)) {
    INFO(form.name);
    const auto results = [&](bool need_weights) {
      manual_seed(9);
      const Tensor output = attention(x, x, x, form.mask, need_weights).output;
      std::vector<Tensor> all =
          gradients({output}, by, {.grad_outputs = {random_normal({2, 5, 4}, 2)}});
      all.push_back(output.detach());
      return all;
    };
    const std::vector<Tensor> got = results(false);
    const std::vector<Tensor> want = results(true);
    for (std::size_t i = 0; i < want.size(); ++i) CHECK_THAT(got[i], IsCloseTo(want[i]));
  }
}

TEST_CASE("a trace sees the projections of attention without weights, each by its name",
          "[attention]") {
  MultiHeadAttention attention({.d_model = 1, .n_heads = 1, .bias = false});
  attention.q_linear.weight = full({1, 1}, 1).requires_grad_();
  attention.k_linear.weight = full({1, 1}, -1e38).requires_grad_();
  const Tensor x = full({1, 2, 1}, 10);
  const NanTrace trace;
  CHECK_THAT(error_text<AutogradError>([&] { attention(x, x, x, {}, false); }),
             Catch::Matchers::ContainsSubstring("linear: its result turned infinite") &&
                 Catch::Matchers::ContainsSubstring("in module k_linear"));
}

TEST_CASE("multi-head attention without weights has right first and second derivatives",
          "[attention][gradcheck]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    MultiHeadAttention attention = two_heads();
    check_layer_gradients(attention, inputs_for(form, 4), [&](const std::vector<Tensor>& x) {
      return attention(x[0], x[1], x[2], form.mask, false).output;
    });
  }
}

// ---- errors ----

TEST_CASE("attention that cannot be built says why", "[attention][errors]") {
  CHECK(error_text<ValueError>([] { MultiHeadAttention({.d_model = 64, .n_heads = 6}); }) ==
        "MultiHeadAttention: d_model 64 cannot be split into 6 heads (64 = 6*10 + 4)\n"
        "  hint   heads that fit 64: 1 2 4 8 16 32 64; a d_model that fits 6 heads: 60, 66");
  CHECK(error_text<ValueError>([] {
          MultiHeadAttention({.d_model = 8, .n_heads = 2, .dropout = 1.5});
        }) == "Dropout: p 1.5 is outside 0..1");
  CHECK(error_text<ValueError>([] { SingleHeadAttention({.d_model = 0}); }) ==
        "Linear: cannot map 0 features to 0\n"
        "  need   in_features of at least 1, out_features of at least 0");
}

TEST_CASE("a mask that does not fit the scores is an error that names the shapes",
          "[attention][errors]") {
  const MultiHeadAttention attention({.d_model = 8, .n_heads = 4});
  const Tensor x = zeros({8, 24, 8});
  const auto under = [&](const AttentionMask& mask) {
    return error_text<ShapeError>([&] { attention(x, x, x, mask); });
  };
  const std::string scores =
      "; scores would be (8, 4, 24, 24): batch, head, query, key\n"
      "  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)\n"
      "  hint   a (batch, key) mask marks padding: AttentionMask::padding(mask)";
  const std::string unfit = "attention: the mask does not fit the scores\n  got    mask ";
  CHECK(under(AttentionMask::hide_where(zeros({8, 24}, boolean))) ==
        unfit + "(8, 24) bool" + scores);
  CHECK(under(AttentionMask::keep_where(ones({4, 24, 24}, int64))) ==
        unfit + "(4, 24, 24) int64" + scores);
  CHECK(under(AttentionMask::padding(zeros({8, 23}, boolean))) == unfit + "(8, 23) bool" + scores);
  CHECK(under(AttentionMask::causal(24, 24) | AttentionMask::padding(zeros({7, 24}, boolean))) ==
        unfit + "(24, 24) bool | (7, 24) bool" + scores);

  const SingleHeadAttention single({.d_model = 8});
  CHECK(error_text<ShapeError>([&] {
          single(x, x, x, AttentionMask::hide_where(zeros({8, 2, 24, 24}, boolean)));
        }) == unfit +
                  "(8, 2, 24, 24) bool; scores would be (8, 1, 24, 24): batch, head, query, "
                  "key\n"
                  "  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)\n"
                  "  hint   a (batch, key) mask marks padding: AttentionMask::padding(mask)");
}

TEST_CASE("operands that do not fit attention are errors that name them", "[attention][errors]") {
  const MultiHeadAttention many({.d_model = 8, .n_heads = 2, .kdim = 6, .vdim = 4});
  const SingleHeadAttention single({.d_model = 8});
  const auto from_many = [&](const Shape& query, const Shape& key, const Shape& value) {
    return error_text<ShapeError>([&] { many(zeros(query), zeros(key), zeros(value)); });
  };
  const auto from_single = [&](const Shape& query, const Shape& key, const Shape& value) {
    return error_text<ShapeError>([&] { single(zeros(query), zeros(key), zeros(value)); });
  };
  SECTION("features") {
    CHECK(from_many({2, 3, 6}, {2, 5, 6}, {2, 5, 4}) ==
          "MultiHeadAttention: query does not fit\n"
          "  got    query (2, 3, 6) float32\n"
          "  need   (batch, length, 8)");
    CHECK(from_many({2, 3, 8}, {2, 5, 8}, {2, 5, 4}) ==
          "MultiHeadAttention: key does not fit\n"
          "  got    key (2, 5, 8) float32\n"
          "  need   (batch, length, 6)");
    CHECK(from_many({2, 3, 8}, {2, 5, 6}, {2, 5, 8}) ==
          "MultiHeadAttention: value does not fit\n"
          "  got    value (2, 5, 8) float32\n"
          "  need   (batch, length, 4)");
    CHECK(from_single({2, 3, 8}, {2, 5, 8}, {2, 5, 7}) ==
          "SingleHeadAttention: value does not fit\n"
          "  got    value (2, 5, 7) float32\n"
          "  need   (batch, length, 8)");
  }
  SECTION("axes") {
    CHECK(from_many({3, 8}, {2, 5, 6}, {2, 5, 4}) ==
          "MultiHeadAttention: query does not fit\n"
          "  got    query (3, 8) float32\n"
          "  need   (batch, length, 8)");
    CHECK(from_single({2, 3, 8}, {1, 2, 5, 8}, {2, 5, 8}) ==
          "SingleHeadAttention: key does not fit\n"
          "  got    key (1, 2, 5, 8) float32\n"
          "  need   (batch, length, 8)");
  }
  SECTION("keys and values differ in length") {
    CHECK(from_many({2, 3, 8}, {2, 5, 6}, {2, 4, 4}) ==
          "MultiHeadAttention: 5 keys but 4 values\n"
          "  got    key (2, 5, 6) float32, value (2, 4, 4) float32");
    CHECK(from_single({2, 3, 8}, {2, 5, 8}, {2, 6, 8}) ==
          "SingleHeadAttention: 5 keys but 6 values\n"
          "  got    key (2, 5, 8) float32, value (2, 6, 8) float32");
  }
  SECTION("batches differ, even where one would stretch") {
    CHECK(from_many({2, 3, 8}, {1, 5, 6}, {1, 5, 4}) ==
          "MultiHeadAttention: batch sizes differ\n"
          "  got    query (2, 3, 8) float32, key (1, 5, 6) float32, value (1, 5, 4) float32");
    CHECK(from_single({2, 3, 8}, {2, 5, 8}, {3, 5, 8}) ==
          "SingleHeadAttention: batch sizes differ\n"
          "  got    query (2, 3, 8) float32, key (2, 5, 8) float32, value (3, 5, 8) float32");
  }
  SECTION("dtypes differ") {
    CHECK(error_text<DTypeError>([&] {
            single(zeros({2, 3, 8}, float64), zeros({2, 5, 8}), zeros({2, 5, 8}));
          }) ==
          "linear: float64 and float32 are not mixed silently\n"
          "  got    x (2, 3, 8) float64, other (8, 8) float32\n"
          "  hint   other.to(float64), or model.to(float64) for gradient checks");
  }
}

// ---- what other libraries got wrong: the numbers are those of their reports ----

TEST_CASE("C001: a row with every key hidden spoils nothing", "[attention][cases]") {
  MultiHeadAttention attention({.d_model = 4, .n_heads = 1});
  std::vector<Tensor> x{random_normal({1, 2, 4}, 1, float32), random_normal({1, 3, 4}, 2, float32),
                        random_normal({1, 3, 4}, 3, float32)};
  for (Tensor& input : x) input.requires_grad_();
  const AttentionMask mask = AttentionMask::hide_where(tensor({{1, 1, 1}, {0, 0, 0}}, boolean));
  const auto [output, weights] = attention(x[0], x[1], x[2], mask);
  CHECK_THAT(weights.select(2, 0), HasValues({{{0, 0, 0}}}, exactly));
  CHECK_THAT(output[0][0], IsCloseTo(attention.out_linear.bias.detach(), exactly));

  Adam adam(attention.parameters(), {.lr = 0.1});
  sum(output[0][1]).backward();
  const std::vector<Tensor> with_hidden{x[0].grad(), x[1].grad(), x[2].grad()};
  for (const Tensor& gradient : with_hidden) CHECK(all_finite(gradient));
  CHECK_THAT(with_hidden[0][0][0], HasValues({0, 0, 0, 0}, exactly));

  // Row 1 is what it is alone.
  for (Tensor& input : x) input.zero_grad();
  const auto alone = attention(x[0].slice(1, 1), x[1], x[2]);
  CHECK_THAT(output.slice(1, 1), IsCloseTo(alone.output.detach()));
  sum(alone.output).backward();
  for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(with_hidden[i], IsCloseTo(x[i].grad()));

  adam.step();
  for (const Tensor& parameter : attention.parameters()) CHECK(all_finite(parameter));
}

TEST_CASE("C003: every path agrees on a row that one head may not see", "[attention][cases]") {
  std::vector<Tensor> x = {random_normal({1, 2, 4}, 1), random_normal({1, 2, 4}, 2),
                           random_normal({1, 2, 4}, 3)};
  const Tensor hidden =
      mask_of({1, 2, 2, 2}, [](Index, Index h, Index q, Index) { return h == 0 && q == 0; });
  MultiHeadAttention attention = two_heads();
  for (Tensor& input : x) input.requires_grad_();
  const auto want = attended(attention, x, AttentionMask::hide_where(hidden));
  CHECK_THAT(want[1][0][0][0], HasValues({0, 0}, exactly));
  CHECK(want[1].at({0, 1, 0, 0}) + want[1].at({0, 1, 0, 1}) == Catch::Approx(1));
  const auto want_grads = gradients({sum(want[0])}, x, {.retain_graph = true});

  const AttentionMask masks[] = {AttentionMask::hide_where(hidden),
                                 AttentionMask::keep_where(logical_not(hidden)),
                                 AttentionMask::hide_where(hidden.to(float32)),
                                 AttentionMask::hide_where(hidden) | AttentionMask()};
  for (const AttentionMask& mask : masks) {
    for (const bool training : {true, false}) {
      attention.train(training);
      {
        const NoGrad no_grad;
        const auto untracked = attended(attention, x, mask);
        CHECK_THAT(untracked[0], IsCloseTo(want[0].detach(), exactly));
        CHECK_THAT(untracked[1], IsCloseTo(want[1].detach(), exactly));
      }
      const auto tracked = attended(attention, x, mask);
      CHECK_THAT(tracked[0], IsCloseTo(want[0].detach(), exactly));
      const auto grads = gradients({sum(tracked[0])}, x);
      for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(grads[i], IsCloseTo(want_grads[i], exactly));
    }
  }
}

TEST_CASE("C004: causal and padding together may close a row", "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(1, 1);
  const Tensor query = zeros({1, 2, 1}, float64);
  Tensor value = tensor({{{1}, {3}}}, float64);
  value.requires_grad_();
  const AttentionMask mask =
      AttentionMask::causal(2, 2) | AttentionMask::padding(tensor({{1, 0}}, boolean));
  const auto [output, weights] = attention(query, zero_keys(value), value, mask);
  CHECK_THAT(output, HasValues({{{0}, {3}}}, exactly));
  CHECK_THAT(weights, HasValues({{{{0, 0}, {0, 1}}}}, exactly));
  sum(output).backward();
  CHECK_THAT(value.grad(), HasValues({{{0}, {1}}}, exactly));
}

TEST_CASE("C006: each sample's mask reaches all of its heads and no other sample",
          "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(2, 2);
  const Tensor value = tensor({{{1, 1}, {3, 3}}, {{1, 1}, {3, 3}}}, float64);
  const Tensor query = zeros({2, 1, 2}, float64);
  // Sample 0 is open, sample 1 hides key 1; flat, as (B*H, q, k) with index b*H + h.
  const Tensor flat = tensor({{{0, 0}}, {{0, 0}}, {{0, 1}}, {{0, 1}}}, boolean);
  const Tensor output =
      attention(query, zero_keys(value), value, AttentionMask::hide_where(flat.view({2, 2, 1, 2})))
          .output;
  CHECK_THAT(output, HasValues({{{2, 2}}, {{1, 1}}}));
  // Flat as it is, it would be a (B, q, k) mask for four samples.
  CHECK_THROWS_AS(attention(query, zero_keys(value), value, AttentionMask::hide_where(flat)),
                  ShapeError);
}

TEST_CASE("C006: a sample in a batch comes out as it does alone", "[attention][cases]") {
  for (const MaskForm& form : mask_forms()) {
    INFO(form.name);
    const MultiHeadAttention attention = two_heads();
    const std::vector<Tensor> x = inputs_for(form, 4);
    const auto together = attended(attention, x, form.mask);
    for (Index b = 0; b < 2; ++b) {
      const Hides of_this = [&](Index, Index h, Index q, Index k) {
        return form.hides(b, h, q, k);
      };
      const AttentionMask mask =
          AttentionMask::hide_where(mask_of({1, 2, form.queries, form.keys}, of_this))
              .with_fill(form.mask.fill());
      const auto alone = attended(
          attention, {x[0].slice(0, b, b + 1), x[1].slice(0, b, b + 1), x[2].slice(0, b, b + 1)},
          mask);
      CHECK_THAT(together[0].slice(0, b, b + 1), IsCloseTo(alone[0].detach()));
      CHECK_THAT(together[1].slice(0, b, b + 1), IsCloseTo(alone[1].detach()));
    }
  }
}

TEST_CASE("C007: a (B,q,k) mask is by sample even where there are as many heads",
          "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(2, 2);
  const Tensor value = tensor({{{1, 1}, {3, 3}}, {{1, 1}, {3, 3}}}, float64);
  const AttentionMask mask = AttentionMask::hide_where(tensor({{{0, 1}}, {{0, 0}}}, boolean));
  CHECK_THAT(attention(zeros({2, 1, 2}, float64), zero_keys(value), value, mask).output,
             HasValues({{{1, 1}}, {{2, 2}}}));
}

TEST_CASE("C009: true hides in hide_where and is seen in keep_where", "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(1, 1);
  const Tensor value = tensor({{{1}, {3}}}, float64);
  const Tensor query = zeros({1, 1, 1}, float64);
  const Tensor mask = tensor({{0, 1}}, boolean);
  const auto under = [&](const AttentionMask& given) {
    return attention(query, zero_keys(value), value, given).output.item();
  };
  CHECK(under(AttentionMask::hide_where(mask)) == 1.0);
  CHECK(under(AttentionMask::padding(mask)) == 1.0);
  CHECK(under(AttentionMask::keep_where(mask)) == 3.0);
  CHECK(under(AttentionMask::hide_where(mask.to(float64))) == 1.0);
  CHECK(under(AttentionMask::keep_where(mask.to(int64))) == 3.0);
}

TEST_CASE("C010: under a causal mask no position sees a later one", "[attention][cases]") {
  const MultiHeadAttention attention = two_heads();
  const AttentionMask causal = AttentionMask::causal(4, 4);
  Tensor x = random_normal({1, 4, 4}, 1).requires_grad_();
  const Tensor changed = cat({x.detach().slice(1, 0, 3), random_normal({1, 1, 4}, 2)}, 1);
  const Tensor before = attention(x, x, x, causal).output;
  const Tensor after = attention(changed, changed, changed, causal).output;
  CHECK_THAT(after.slice(1, 0, 3), IsCloseTo(before.detach().slice(1, 0, 3), exactly));
  CHECK(difference(after.slice(1, 3), before.detach().slice(1, 3)) != "");

  for (Index t = 0; t < 4; ++t) {
    const Tensor gradient = gradients({sum(before.select(1, t))}, {x}, {.retain_graph = true})[0];
    for (Index u = 0; u < 4; ++u) {
      INFO("output " << t << " by input " << u);
      const bool none = all(eq(gradient.select(1, u), 0.0));
      CHECK(none == (u > t));
    }
  }
}

TEST_CASE("C012: causal says how it is aligned where lengths differ", "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(1, 1);
  const auto outputs = [&](Index q_len, const Tensor& value, Index offset) {
    return attention(zeros({1, q_len, 1}, float64), zero_keys(value), value,
                     AttentionMask::causal(q_len, value.size(1), offset))
        .output.view({q_len});
  };
  const Tensor five = tensor({{{1}, {2}, {3}, {4}, {5}}}, float64);
  CHECK_THAT(outputs(2, five, 0), HasValues({1, 1.5}));
  CHECK_THAT(outputs(2, five, 3), HasValues({2.5, 3}));
  CHECK_THAT(outputs(1, five.slice(1, 0, 4), 3), HasValues({2.5}));
  CHECK_THAT(outputs(3, five.slice(1, 0, 1), -2), HasValues({0, 0, 1}));
  CHECK_THAT(outputs(3, five.slice(1, 0, 3), 0), HasValues({1, 1.5, 2}));
}

TEST_CASE("C013: a causal mask holds in training, with dropout and beside another mask",
          "[attention][cases]") {
  const Tensor x = random_normal({1, 3, 4}, 1);
  const auto check = [&](MultiHeadAttention attention, const AttentionMask& mask) {
    for (const bool training : {true, false}) {
      attention.to(float64);
      attention.train(training);
      const Tensor weights = attention(x, x, x, mask).weights;
      for (Index h = 0; h < 2; ++h) {
        CHECK_THAT(weights[0][h][0], HasValues({1, 0, 0}, exactly));
        CHECK(weights.at({0, h, 1, 2}) == 0.0);
      }
    }
  };
  const AttentionMask causal = AttentionMask::causal(3, 3);
  check(MultiHeadAttention({.d_model = 4, .n_heads = 2}), causal);
  check(MultiHeadAttention({.d_model = 4, .n_heads = 2, .dropout = 0.1}), causal);
  const AttentionMask padding = AttentionMask::padding({2}, 3);
  check(MultiHeadAttention({.d_model = 4, .n_heads = 2}), causal | padding);
  check(MultiHeadAttention({.d_model = 4, .n_heads = 2, .dropout = 0.1}), padding | causal);
}

TEST_CASE("C015: attention drops nothing in eval, and by its seed in training",
          "[attention][cases]") {
  const auto check = [](auto attention, auto without) {
    without.load_state_dict(attention.state_dict());
    const std::vector<Tensor> x{random_normal({2, 3, 4}, 1, float32),
                                random_normal({2, 5, 4}, 2, float32),
                                random_normal({2, 5, 4}, 3, float32)};
    attention.eval();
    const Tensor first = attended(attention, x)[0].detach();
    CHECK_THAT(attended(attention, x)[0], IsCloseTo(first, exactly));
    CHECK_THAT(attended(without, x)[0], IsCloseTo(first, exactly));

    attention.train();
    manual_seed(1);
    const Tensor drawn = attended(attention, x)[0].detach();
    CHECK(difference(drawn, first) != "");
    CHECK(difference(attended(attention, x)[0], drawn) != "");
    manual_seed(1);
    CHECK_THAT(attended(attention, x)[0], IsCloseTo(drawn, exactly));
  };
  check(MultiHeadAttention({.d_model = 4, .n_heads = 2, .dropout = 0.5}),
        MultiHeadAttention({.d_model = 4, .n_heads = 2}));
  check(SingleHeadAttention({.d_model = 4, .dropout = 0.5}), SingleHeadAttention({.d_model = 4}));
}

TEST_CASE("C016: the weights returned are those before dropout, the output of those after",
          "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(2, 2, 0.1);
  const Tensor value = tensor({{{1, 1}}}, float64);
  manual_seed(0);
  int dropped = 0;
  int kept = 0;
  for (int i = 0; i < 50; ++i) {
    const auto [output, weights] = attention(value, value, value);
    CHECK_THAT(weights, HasValues({{{{1}}, {{1}}}}, exactly));
    for (const double number : output.to_vector<double>()) {
      (number == 0.0 ? dropped : kept) += 1;
      if (number != 0.0) CHECK(number == Catch::Approx(1 / 0.9));
    }
  }
  CHECK(dropped > 0);
  CHECK(kept > 70);
}

TEST_CASE("C018: a width that heads do not divide is refused", "[attention][cases]") {
  const auto refused = [](Index d_model, Index n_heads) {
    return error_text<ValueError>(
        [&] { MultiHeadAttention({.d_model = d_model, .n_heads = n_heads}); });
  };
  CHECK(refused(10, 3) ==
        "MultiHeadAttention: d_model 10 cannot be split into 3 heads (10 = 3*3 + 1)\n"
        "  hint   heads that fit 10: 1 2 5 10; a d_model that fits 3 heads: 9, 12");
  CHECK(refused(2, 4) ==
        "MultiHeadAttention: d_model 2 cannot be split into 4 heads (2 = 4*0 + 2)\n"
        "  hint   heads that fit 2: 1 2; a d_model that fits 4 heads: 4");
  CHECK(refused(8, 0) == "MultiHeadAttention: d_model 8 and n_heads 0 must be at least 1");
  CHECK(refused(8, -2) == "MultiHeadAttention: d_model 8 and n_heads -2 must be at least 1");
  CHECK(refused(0, 2) == "MultiHeadAttention: d_model 0 and n_heads 2 must be at least 1");

  const MultiHeadAttention eight({.d_model = 8, .n_heads = 8});
  const Tensor x = random_normal({1, 3, 8}, 1, float32);
  CHECK(eight(x, x, x).weights.shape() == Shape{1, 8, 3, 3});
}

TEST_CASE("C019: keys and values may have a length and widths of their own", "[attention][cases]") {
  const MultiHeadAttention attention({.d_model = 4, .n_heads = 2, .kdim = 6, .vdim = 3});
  const Tensor query = random_normal({1, 2, 4}, 1, float32);
  const Tensor key = random_normal({1, 5, 6}, 2, float32);
  const auto [output, weights] = attention(query, key, random_normal({1, 5, 3}, 3, float32));
  CHECK(output.shape() == Shape{1, 2, 4});
  CHECK(weights.shape() == Shape{1, 2, 2, 5});
  CHECK(error_text<ShapeError>([&] {
          attention(query, key, random_normal({1, 4, 3}, 3, float32));
        }) ==
        "MultiHeadAttention: 5 keys but 4 values\n"
        "  got    key (1, 5, 6) float32, value (1, 4, 3) float32");
}

TEST_CASE("C019: one tensor as query, key and value gets the gradients of all three",
          "[attention][cases]") {
  const MultiHeadAttention attention = two_heads();
  Tensor x = random_normal({2, 3, 4}, 1).requires_grad_();
  std::vector<Tensor> copies;
  for (int i = 0; i < 3; ++i) copies.push_back(x.detach().clone().requires_grad_());
  const Tensor cotangent = random_normal({2, 3, 4}, 2);
  sum(attention(x, x, x).output * cotangent).backward();
  sum(attention(copies[0], copies[1], copies[2]).output * cotangent).backward();
  CHECK_THAT(x.grad(), IsCloseTo(copies[0].grad() + copies[1].grad() + copies[2].grad()));
}

TEST_CASE("C021: the first axis is the batch, and samples do not meet", "[attention][cases]") {
  const MultiHeadAttention attention = two_heads();
  const Tensor x = random_normal({3, 5, 4}, 1);
  const Tensor changed = cat({x.slice(0, 0, 2), random_normal({1, 5, 4}, 2)});
  const Tensor before = attention(x, x, x).output.detach();
  const Tensor after = attention(changed, changed, changed).output.detach();
  CHECK_THAT(after.slice(0, 0, 2), IsCloseTo(before.slice(0, 0, 2), exactly));
  CHECK(difference(after.slice(0, 2), before.slice(0, 2)) != "");
}

TEST_CASE("C022: a head owns columns, not positions", "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(4, 2);
  const Tensor tokens = tensor({{{1, 2, 3, 4}, {5, 6, 7, 8}}}, float64);
  // Head 0 has [[1,2],[5,6]], head 1 [[3,4],[7,8]]; a tenth, for scores that softmax can tell.
  const Tensor query = tokens * 0.1;
  const auto weight_of_first = [](double score0, double score1) {
    return 1 / (1 + std::exp((score1 - score0) / std::sqrt(2.0)));
  };
  const auto [output, weights] = attention(query, tokens, tokens);
  CHECK(weights.at({0, 0, 0, 0}) == Catch::Approx(weight_of_first(0.5, 1.7)));   // 1+4, 5+12
  CHECK(weights.at({0, 0, 1, 0}) == Catch::Approx(weight_of_first(1.7, 6.1)));   // 5+12, 25+36
  CHECK(weights.at({0, 1, 0, 0}) == Catch::Approx(weight_of_first(2.5, 5.3)));   // 9+16, 21+32
  CHECK(weights.at({0, 1, 1, 0}) == Catch::Approx(weight_of_first(5.3, 11.3)));  // 21+32, 49+64
  // And the heads come together as they were split.
  const auto [by_itself, ones] =
      attention(query, tokens, tokens, AttentionMask::keep_where(identity(2, boolean)));
  CHECK_THAT(by_itself, IsCloseTo(tokens));
}

TEST_CASE("C024: scores are divided by the root of the head's width", "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(8, 2);
  const Tensor key = cat({ones({1, 1, 8}, float64), zeros({1, 1, 8}, float64)}, 1);
  const Tensor weights = attention(ones({1, 1, 8}, float64), key, key).weights;
  CHECK_THAT(weights, HasValues({{{{0.8808, 0.1192}}, {{0.8808, 0.1192}}}}, Tolerance{0, 5e-5}));

  SingleHeadAttention single = one_head(4);
  const NoGrad no_grad;
  for (Tensor weight : single.parameters()) {
    weight.copy_(identity(4, float64));
  }
  CHECK_THAT(single(ones({1, 1, 4}, float64), key.slice(2, 0, 4), key.slice(2, 0, 4)).weights,
             HasValues({{{0.8808, 0.1192}}}, Tolerance{0, 5e-5}));
}

TEST_CASE("C025: masks meet as bools, and hidden keys are absent rather than unlikely",
          "[attention][cases]") {
  const MultiHeadAttention attention = plain_attention(1, 1, 0.0, float32);
  const Tensor one = ones({1, 1, 1});
  const auto weights = [&](const Tensor& scores, const AttentionMask& mask) {
    const Tensor key = scores.view({1, -1, 1});
    return attention(one, key, key, mask).weights.view({-1});
  };
  const auto hide = [](const NestedNumbers& mask) {
    return AttentionMask::hide_where(tensor(mask, boolean));
  };
  SECTION("two masks with the lowest of fills do not add up to -inf") {
    const AttentionMask both =
        hide({{0, 1, 1}}).with_fill(-3.4e38) | hide({{0, 1, 0}}).with_fill(-3.4e38);
    CHECK_THAT(weights(tensor({0, 0, 0}), both), HasValues({1, 0, 0}, exactly));
    const AttentionMask whole = hide({{1, 1, 1}}).with_fill(-3.4e38) | both;
    CHECK_THAT(weights(tensor({0, 0, 0}), whole), HasValues({1 / 3.0, 1 / 3.0, 1 / 3.0}));
  }
  SECTION("a closed row is 0; uniform only where a finite fill asks for it") {
    CHECK_THAT(weights(tensor({1, 2, 3}), hide({{1, 1, 1}})), HasValues({0, 0, 0}, exactly));
    CHECK_THAT(weights(tensor({1, 2, 3}), hide({{1, 1, 1}}).with_fill(-1e9)),
               HasValues({1 / 3.0, 1 / 3.0, 1 / 3.0}));
  }
  SECTION("a very low score still beats a hidden key") {
    CHECK_THAT(weights(tensor({-2e9, 0}), hide({{0, 1}})), HasValues({1, 0}, exactly));
  }
}
