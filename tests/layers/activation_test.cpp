// Activations as layers: the functions of framework/ops/unary.h.
#include "layers/activation.h"

#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("activations apply their functions, and have nothing to learn", "[activation]") {
  const Tensor x = random_normal({2, 3}, 1);
  CHECK_THAT(ReLU()(x), IsCloseTo(relu(x), exactly));
  CHECK_THAT(GELU()(x), IsCloseTo(gelu(x), exactly));
  CHECK_THAT(GELU(GeluForm::tanh)(x), IsCloseTo(gelu(x, GeluForm::tanh), exactly));
  CHECK_THAT(SiLU()(x), IsCloseTo(silu(x), exactly));
  CHECK_THAT(Tanh()(x), IsCloseTo(tanh(x), exactly));
  CHECK(GELU().parameters().empty());
}

TEST_CASE("activations print their names", "[activation]") {
  CHECK(ReLU().description() == "ReLU");
  CHECK(GELU().description() == "GELU");
  CHECK(GELU(GeluForm::tanh).description() == "GELU(tanh)");
  CHECK(SiLU().description() == "SiLU");
  CHECK(Tanh().description() == "Tanh");
}
