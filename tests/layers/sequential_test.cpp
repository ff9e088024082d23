// Sequential: layers one after another.
#include "layers/sequential.h"

#include <sstream>
#include <string>
#include <vector>

#include "framework/core/error.h"
#include "layers/activation.h"
#include "layers/dropout.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("Sequential hands each layer's output to the next", "[sequential]") {
  Sequential net{Linear(2, 3), ReLU(), Linear(3, 1)};
  net.load_state_dict({{"0.weight", tensor({{1, 0}, {0, 1}, {-1, -1}})},
                       {"0.bias", tensor({0, 0, 1})},
                       {"2.weight", tensor({{1, 2, 3}})},
                       {"2.bias", tensor({0.5})}});
  // (2, -3): hidden (2, -3, 2), then (2, 0, 2).
  CHECK_THAT(net(tensor({{2, -3}})), HasValues({{8.5}}));
  CHECK(net.size() == 3);
  CHECK_THAT(net[1](tensor({-1, 1})), HasValues({0, 1}));
}

TEST_CASE("Sequential without layers is the identity", "[sequential]") {
  const Tensor x = random_normal({2, 3}, 1);
  CHECK_THAT(Sequential()(x), IsCloseTo(x, exactly));
  CHECK(Sequential().parameters().empty());
}

TEST_CASE("Sequential names its children 0, 1, 2, also in one another", "[sequential]") {
  Sequential net;
  for (Index i = 0; i < 2; ++i) net.append(Linear(2, 2, false));
  net.append(Sequential(Tanh(), Dropout(0.5), LayerNorm(2)));
  std::vector<std::string> names;
  for (const auto& [name, parameter] : net.named_parameters()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"0.weight", "1.weight", "2.2.weight", "2.2.bias"});
  net.eval();
  CHECK_FALSE(static_cast<Sequential&>(net[2])[1].is_training());

  std::ostringstream out;
  out << net;
  CHECK(out.str() ==
        "Sequential (\n"
        "  (0): Linear(2, 2, no bias)\n"
        "  (1): Linear(2, 2, no bias)\n"
        "  (2): Sequential (\n"
        "    (0): Tanh\n"
        "    (1): Dropout(0.5)\n"
        "    (2): LayerNorm((2,))\n"
        "  )\n"
        ")");
}

TEST_CASE("Sequential keeps its layers when it is moved", "[sequential]") {
  Sequential net{Linear(2, 2), Tanh()};
  const Tensor x = random_normal({3, 2}, 1, float32);
  const Tensor y = net(x);
  const Sequential moved = std::move(net);
  CHECK(moved.size() == 2);
  CHECK_THAT(moved(x), IsCloseTo(y, exactly));
}

TEST_CASE("Sequential has right first and second derivatives", "[sequential][gradcheck]") {
  manual_seed(1);
  Sequential net{Linear(2, 3), GELU(), LayerNorm(3), Linear(3, 2)};
  net.to(float64);
  check_layer_gradients(net, stored_transposed(random_normal({2, 3, 2}, 1)));
}

TEST_CASE("Sequential refuses layers that it does not have", "[sequential][errors]") {
  Sequential net{Tanh(), Tanh()};
  CHECK(error_text<ValueError>([&] { net[2]; }) == "Sequential: no layer 2 among 2");
  CHECK(error_text<ValueError>([&] { net[-1]; }) == "Sequential: no layer -1 among 2");
}
