// Self-attention in one step against what it stands for: three linear maps, heads split, attention
// and heads merged, a step each.
#include "framework/ops/self_attention_internal.h"

#include <string>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/tape.h"
#include "framework/ops/creation.h"
#include "framework/ops/heads_internal.h"
#include "framework/ops/linear.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/support/gradcheck.h"
#include "tests/support/mask_forms.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Inputs = std::vector<Tensor>;  // x, three weights, three biases

constexpr HeadCounts kTwo{.query = 2, .shared = 2};
constexpr HeadCounts kGrouped{.query = 4, .shared = 2};

/// Two samples of five positions with six features, to heads of three features.
Inputs inputs_of(HeadCounts heads, DType dtype) {
  const Index wide = 3 * heads.query;
  const Index narrow = 3 * heads.shared;
  Inputs in;
  std::uint64_t seed = 0;
  for (const Shape& shape :
       {Shape{2, 5, 6}, {wide, 6}, {narrow, 6}, {narrow, 6}, {wide}, {narrow}, {narrow}}) {
    in.push_back(random_normal(shape, ++seed, dtype).requires_grad_());
  }
  return in;
}

AttentionOptions grouped(AttentionOptions options) {
  options.enable_gqa = true;
  return options;
}

Tensor in_one_step(const Inputs& in, HeadCounts heads, const AttentionOptions& options) {
  return self_attention(in[0], {in[1], in[4]}, {in[2], in[5]}, {in[3], in[6]}, heads,
                        grouped(options));
}

Tensor step_by_step(const Inputs& in, HeadCounts heads, const AttentionOptions& options) {
  return merge_heads(scaled_dot_product_attention(
      split_heads(linear(in[0], in[1], in[4]), heads.query),
      split_heads(linear(in[0], in[2], in[5]), heads.shared),
      split_heads(linear(in[0], in[3], in[6]), heads.shared), grouped(options)));
}

/// The result, and the gradients of all inputs that are there and want one.
template <class Attention>
Inputs found_by(Attention attention, const Inputs& in, HeadCounts heads,
                const AttentionOptions& options) {
  manual_seed(7);
  const Tensor y = attention(in, heads, options);
  Inputs wanted;
  for (const Tensor& input : in) {
    if (input.requires_grad()) wanted.push_back(input);
  }
  Inputs found = gradients(
      {y}, wanted, {.grad_outputs = {stored_transposed(random_normal(y.shape(), 9, y.dtype()))}});
  found.push_back(y.detach());
  return found;
}

void check_agreement(const Inputs& in, HeadCounts heads, const AttentionOptions& options = {}) {
  const Inputs got = found_by(in_one_step, in, heads, options);
  const Inputs want = found_by(step_by_step, in, heads, options);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO("result " << i << " of " << want.size());
    CHECK_THAT(got[i], IsCloseTo(want[i]));
  }
}

bool is_one_step(const Tensor& y) {
  return step_name(y.impl().node.get()) == std::string("self_attention");
}

}  // namespace

TEST_CASE("self_attention agrees with its parts under every mask", "[self_attention]") {
  const DType dtype = GENERATE(float32, float64);
  const double dropout_p = GENERATE(0.0, 0.4);
  for (const MaskForm& form : mask_forms_for(5, 5)) {
    INFO(form.name << ", " << dtype << ", dropout " << dropout_p);
    check_agreement(inputs_of(kTwo, dtype), kTwo, {.mask = form.mask, .dropout_p = dropout_p});
  }
}

TEST_CASE("self_attention agrees with its parts where heads are shared", "[self_attention]") {
  check_agreement(inputs_of(kGrouped, float64), kGrouped, {.is_causal = true, .scale = 0.7});
  check_agreement(inputs_of(kGrouped, float32), kGrouped, {.dropout_p = 0.3});
}

TEST_CASE("self_attention takes any strides, and maps without biases", "[self_attention]") {
  Inputs in = inputs_of(kTwo, float64);
  for (std::size_t i = 0; i < 4; ++i) in[i] = stored_transposed(in[i].detach()).requires_grad_();
  CHECK_FALSE(in[0].is_contiguous());
  check_agreement(in, kTwo);
  for (std::size_t i = 4; i < 7; ++i) in[i] = Tensor();
  check_agreement(in, kTwo);
}

TEST_CASE("self_attention gives each input its own gradient", "[self_attention]") {
  for (std::size_t wanted = 0; wanted < 7; ++wanted) {
    INFO("input " << wanted);
    Inputs in = inputs_of(kTwo, float64);
    for (std::size_t i = 0; i < 7; ++i) {
      if (i != wanted) in[i] = in[i].detach();
    }
    check_agreement(in, kTwo);
  }
  SECTION("also where two maps share a weight") {
    Inputs in = inputs_of(kTwo, float64);
    in[2] = in[1];
    in[5] = in[4];
    const Tensor g = random_normal({2, 5, 6}, 9);
    const Inputs by{in[0], in[1], in[3], in[4]};
    const Inputs got = gradients({in_one_step(in, kTwo, {})}, by, {.grad_outputs = {g}});
    const Inputs want = gradients({step_by_step(in, kTwo, {})}, by, {.grad_outputs = {g}});
    for (std::size_t i = 0; i < by.size(); ++i) CHECK_THAT(got[i], IsCloseTo(want[i]));
  }
}

TEST_CASE("self_attention has right first and second derivatives", "[self_attention][gradcheck]") {
  for (const HeadCounts heads : {kTwo, kGrouped}) {
    CHECK_GRADIENTS(
        [&](const Inputs& in) {
          manual_seed(7);
          return in_one_step(in, heads, {.dropout_p = 0.2, .is_causal = true});
        },
        inputs_of(heads, float64), {.order = 2});
  }
}

TEST_CASE("self_attention is one step, which leaves gradients in memory of their own",
          "[self_attention]") {
  const Inputs in = inputs_of(kTwo, float64);
  const Tensor y = in_one_step(in, kTwo, {});
  CHECK(is_one_step(y));
  CHECK(Tape(y).size() == 8);  // and seven leaves
  y.sum().backward();
  in[1].grad().fill_(0);
  CHECK(sum(abs(in[2].grad())).item() > 0);
  CHECK(sum(abs(in[3].grad())).item() > 0);
}

TEST_CASE("self_attention goes step by step where one product cannot hold the maps",
          "[self_attention]") {
  Inputs in = inputs_of(kTwo, float64);
  AttentionOptions options;
  SECTION("values of another width") {
    in[3] = random_normal({8, 6}, 11).requires_grad_();
    in[6] = random_normal({8}, 12).requires_grad_();
  }
  SECTION("a bias that others lack") { in[5] = Tensor(); }
  SECTION("a mask that only makes keys unlikely") {
    options.mask = AttentionMask::causal(5, 5).with_fill(-3);
  }
  CHECK_FALSE(is_one_step(in_one_step(in, kTwo, options)));
  check_agreement(in, kTwo, options);
}

TEST_CASE("self_attention takes one product where the weights are small beside it",
          "[self_attention]") {
  const auto taken_by = [](Index rows, Index features) {
    const Tensor x = zeros({1, rows, features});
    const Tensor weight = zeros({features, features}).requires_grad_();
    const Tensor none;
    return is_one_step(
        self_attention(x, {weight, none}, {weight, none}, {weight, none}, {1, 1}, {}));
  };
  CHECK(taken_by(1, 64));
  CHECK_FALSE(taken_by(100, 100));
  CHECK(taken_by(400, 100));
}

TEST_CASE("self_attention refuses heads that cannot be shared as its parts do",
          "[self_attention][errors]") {
  const auto attend = [](HeadCounts heads, bool grouped) {
    const Inputs in = inputs_of(heads, float64);
    return self_attention(in[0], {in[1], in[4]}, {in[2], in[5]}, {in[3], in[6]}, heads,
                          {.enable_gqa = grouped});
  };
  const auto refused = [&](HeadCounts heads, bool grouped) {
    return error_text<ShapeError>([&] { attend(heads, grouped); });
  };
  CHECK(is_one_step(attend(kGrouped, true)));
  CHECK_THAT(refused(kGrouped, false), ContainsSubstring("see enable_gqa"));
  CHECK_THAT(refused({.query = 3, .shared = 2}, true),
             ContainsSubstring("3 query heads cannot share 2 key heads evenly"));
}

TEST_CASE("self_attention works on nothing", "[self_attention]") {
  Inputs in = inputs_of(kTwo, float64);
  in[0] = zeros(GENERATE(Shape{0, 5, 6}, Shape{2, 0, 6}), float64).requires_grad_();
  check_agreement(in, kTwo);
}

TEST_CASE("self_attention: maps that do not fit are refused in the words of linear",
          "[self_attention][errors]") {
  Inputs in = inputs_of(kTwo, float64);
  SECTION("a weight for other features") {
    in[2] = zeros({6, 7}, float64);
    CHECK(error_text<ShapeError>([&] {
            in_one_step(in, kTwo, {});
          }).starts_with("linear: x has 6 features, the weight takes 7"));
  }
  SECTION("a bias of another length") {
    in[6] = zeros({5}, float64);
    CHECK(error_text<ShapeError>([&] {
            in_one_step(in, kTwo, {});
          }).starts_with("linear: the bias must have one number for each of the 6 outputs"));
  }
  SECTION("another dtype") {
    in[1] = zeros({6, 6}, float32);
    CHECK(error_text<DTypeError>([&] { in_one_step(in, kTwo, {}); }).starts_with("linear: "));
  }
  SECTION("a probability") {
    CHECK(error_text<ValueError>([&] {
            in_one_step(in, kTwo, {.dropout_p = 2});
          }).starts_with("dropout: p 2 is outside 0..1"));
  }
}

TEST_CASE("self_attention notices a weight that was changed before backward()",
          "[self_attention][errors]") {
  Inputs in = inputs_of(kTwo, float64);
  const Tensor y = in_one_step(in, kTwo, {}).sum();
  const NoGrad no_grad;
  in[2].fill_(0);
  CHECK(error_text<AutogradError>([&] {
          y.backward();
        }).starts_with("self_attention backward: its saved input 2 was changed in place"));
}
