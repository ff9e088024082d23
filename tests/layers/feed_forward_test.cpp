// FeedForward: the position-wise half of a transformer block.
#include "layers/feed_forward.h"

#include <sstream>

#include "framework/core/error.h"
#include "framework/ops/random.h"
#include "framework/ops/unary.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("FeedForward is two Linears with an activation between", "[feed_forward]") {
  FeedForward relus({.d_model = 2, .d_hidden = 3, .activation = Activation::relu});
  relus.load_state_dict({{"linear1.weight", tensor({{1, 0}, {0, 1}, {-1, -1}})},
                         {"linear1.bias", tensor({0, 0, 1})},
                         {"linear2.weight", tensor({{1, 1, 1}, {1, 2, 3}})},
                         {"linear2.bias", tensor({0.5, 0})}});
  // (2, -3): hidden 2, -3, 2; relu 2, 0, 2.
  CHECK_THAT(relus(tensor({{2, -3}})), HasValues({{4.5, 8}}));

  FeedForward gelus({.d_model = 2, .d_hidden = 3});
  gelus.load_state_dict(relus.state_dict());
  const Tensor x = random_normal({4, 5, 2}, 1, float32);
  CHECK_THAT(gelus(x), IsCloseTo(gelus.linear2(gelu(gelus.linear1(x)))));
  // gelu(2) = 1.954500, gelu(-3) = -0.004050
  CHECK_THAT(gelus(tensor({{2, -3}})), HasValues({{4.404950, 7.809900}}));
}

TEST_CASE("FeedForward multiplies by a gate where it is swiglu", "[feed_forward]") {
  FeedForward swiglu(
      {.d_model = 2, .d_hidden = 2, .activation = Activation::swiglu, .bias = false});
  CHECK(swiglu.parameters().size() == 3);
  swiglu.load_state_dict({{"linear1.weight", tensor({{1, 0}, {0, 1}})},
                          {"linear_gate.weight", tensor({{0, 1}, {1, 0}})},
                          {"linear2.weight", tensor({{1, 0}, {1, 1}})}});
  // (2, -3): hidden (2, -3), gate (-3, 2); silu(-3) = -0.14227762, silu(2) = 1.76159416.
  CHECK_THAT(swiglu(tensor({{2, -3}})), HasValues({{-0.28455524, -5.56933772}}));
  CHECK(swiglu.description() == "FeedForward(swiglu)");
  CHECK_FALSE(FeedForward({.d_model = 2, .d_hidden = 3}).linear_gate);
}

TEST_CASE("FeedForward treats every position alike and alone", "[feed_forward]") {
  FeedForward feed_forward({.d_model = 2, .d_hidden = 3});
  const Tensor x = random_normal({2, 5, 2}, 1, float32);
  const Tensor y = feed_forward(x);
  CHECK_THAT(feed_forward(x[1][3]), IsCloseTo(y[1][3]));
  CHECK_THAT(feed_forward(stored_transposed(x)), IsCloseTo(y));
  CHECK(feed_forward(zeros({0, 5, 2})).shape() == Shape{0, 5, 2});
}

TEST_CASE("FeedForward drops hidden features, in training only", "[feed_forward]") {
  FeedForward feed_forward({.d_model = 2, .d_hidden = 3, .dropout = 1.0});
  const Tensor x = random_normal({2, 2}, 1, float32);
  CHECK_THAT(feed_forward(x), IsCloseTo(feed_forward.linear2.bias.expand({2, 2}), exactly));
  feed_forward.eval();
  CHECK_THAT(feed_forward(x),
             IsCloseTo(feed_forward.linear2(gelu(feed_forward.linear1(x))), exactly));
}

TEST_CASE("FeedForward has right first and second derivatives", "[feed_forward][gradcheck]") {
  for (const Activation activation : {Activation::gelu, Activation::relu, Activation::swiglu}) {
    manual_seed(4);
    FeedForward feed_forward({.d_model = 2, .d_hidden = 3, .activation = activation});
    feed_forward.to(float64);
    check_layer_gradients(feed_forward, random_normal({2, 3, 2}, 1));
    check_layer_gradients(feed_forward, stored_transposed(random_normal({2, 3, 2}, 2)));
  }
}

TEST_CASE("FeedForward draws linear1, then the gate, then linear2", "[feed_forward]") {
  manual_seed(42);
  const FeedForward gated({.d_model = 2, .d_hidden = 3, .activation = Activation::swiglu});
  manual_seed(42);
  const Linear up(2, 3);
  const Linear gate(2, 3);
  const Linear down(3, 2);
  CHECK_THAT(gated.linear1.weight, IsCloseTo(up.weight, exactly));
  CHECK_THAT(gated.linear_gate->bias, IsCloseTo(gate.bias, exactly));
  CHECK_THAT(gated.linear2.weight, IsCloseTo(down.weight, exactly));

  manual_seed(42);
  const FeedForward feed_forward({.d_model = 2, .d_hidden = 3});
  manual_seed(42);
  const Linear linear1(2, 3);
  const Linear linear2(3, 2);
  CHECK_THAT(feed_forward.linear1.weight, IsCloseTo(linear1.weight, exactly));
  CHECK_THAT(feed_forward.linear2.bias, IsCloseTo(linear2.bias, exactly));
}

TEST_CASE("FeedForward prints its activation and refuses other widths", "[feed_forward][errors]") {
  std::ostringstream out;
  out << FeedForward({.d_model = 2, .d_hidden = 3, .dropout = 0.1, .activation = Activation::relu});
  CHECK(out.str() ==
        "FeedForward(relu) (\n"
        "  (linear1): Linear(2, 3)\n"
        "  (dropout): Dropout(0.1)\n"
        "  (linear2): Linear(3, 2)\n"
        ")");
  CHECK(error_text<ShapeError>([] {
          FeedForward({.d_model = 2, .d_hidden = 3})(ones({2, 3}));
        }) ==
        "linear: x has 3 features, the weight takes 2\n"
        "  got    x (2, 3) float32, weight (3, 2) float32\n"
        "  need   x (..., 2)");
}
