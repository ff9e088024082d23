// What a loss does not reach.
#include "layers/inspect.h"

#include "framework/core/error.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "layers/attention.h"
#include "tests/support/catch.h"

using namespace gradus;

TEST_CASE("inspect: names the parameters that the loss does not depend on") {
  const MultiHeadAttention attention({.d_model = 4, .n_heads = 2});
  const Tensor x = randn({1, 3, 4});
  const AttentionOutput result = attention(x, x, x);
  CHECK(parameters_without_gradient(attention, result.output.sum()).empty());
  CHECK(parameters_without_gradient(attention, result.weights.sum()) ==
        std::vector<std::string>{"v_linear.weight", "v_linear.bias", "out_linear.weight",
                                 "out_linear.bias"});
  CHECK_THROWS_AS(parameters_without_gradient(attention, x.sum()), AutogradError);
}
