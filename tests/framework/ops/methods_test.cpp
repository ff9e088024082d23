// The ops that read well in a chain are the free functions under another spelling.
#include "framework/ops/extreme.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("methods: spell the free functions") {
  const Tensor x = exp(random_normal({3, 3}, 1));
  const Tensor mask = tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, boolean);
  CHECK_THAT(x.sum(), IsCloseTo(sum(x), exactly));
  CHECK_THAT(x.sum({1}, true), IsCloseTo(sum(x, {1}, true), exactly));
  CHECK_THAT(x.sum({0}), IsCloseTo(sum(x, {0}), exactly));
  CHECK_THAT(x.mean(), IsCloseTo(mean(x), exactly));
  CHECK_THAT(x.mean({1}, true), IsCloseTo(mean(x, {1}, true), exactly));
  CHECK_THAT(x.max(), IsCloseTo(max(x), exactly));
  CHECK_THAT(x.max(1).values, IsCloseTo(max(x, 1).values, exactly));
  CHECK_THAT(x.max(0, true).indices, IsCloseTo(max(x, 0, true).indices, exactly));
  CHECK_THAT(x.exp(), IsCloseTo(exp(x), exactly));
  CHECK_THAT(x.log(), IsCloseTo(log(x), exactly));
  CHECK_THAT(x.sqrt(), IsCloseTo(sqrt(x), exactly));
  CHECK_THAT(x.tanh(), IsCloseTo(tanh(x), exactly));
  CHECK_THAT(x.sigmoid(), IsCloseTo(sigmoid(x), exactly));
  CHECK_THAT(x.relu(), IsCloseTo(relu(x), exactly));
  CHECK_THAT(x.softmax(1), IsCloseTo(softmax(x, 1), exactly));
  CHECK_THAT(x.log_softmax(0), IsCloseTo(log_softmax(x, 0), exactly));
  CHECK_THAT(x.matmul(x), IsCloseTo(matmul(x, x), exactly));
  CHECK_THAT(x.masked_fill(mask, -1), IsCloseTo(masked_fill(x, mask, -1), exactly));
}
