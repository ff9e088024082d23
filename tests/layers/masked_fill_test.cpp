// MaskedFill as a layer.
#include "layers/masked_fill.h"

#include <sstream>

#include "framework/core/error.h"
#include "framework/ops/creation.h"
#include "layers/softmax.h"
#include "tests/layers/layer_checks.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("MaskedFill writes the mask's fill over hidden scores", "[masked_fill]") {
  const MaskedFill fill;
  const Tensor scores = tensor({{{{1, 2}, {3, 4}}}}, float64);
  CHECK_THAT(fill(scores, AttentionMask::causal(2, 2)),
             HasValues({{{{1, -kInf}, {3, 4}}}}, exactly));
  CHECK_THAT(fill(scores, AttentionMask::causal(2, 2).with_fill(-1e9)),
             HasValues({{{{1, -1e9}, {3, 4}}}}, exactly));
  CHECK_THAT(fill(scores.squeeze(1), AttentionMask::padding({1}, 2)),
             HasValues({{{1, -kInf}, {3, -kInf}}}, exactly));
  CHECK_THAT(fill(stored_transposed(scores), AttentionMask::causal(2, 2)),
             HasValues({{{{1, -kInf}, {3, 4}}}}, exactly));
  CHECK(fill(scores, {}).is_same(scores));
  CHECK(fill(zeros({0, 2, 3, 4}), AttentionMask::causal(3, 4)).shape() == Shape{0, 2, 3, 4});
}

TEST_CASE("MaskedFill lets no gradient through where it filled", "[masked_fill][gradcheck]") {
  MaskedFill fill;
  const AttentionMask mask = AttentionMask::causal(3, 4) | AttentionMask::padding({2, 4}, 4);
  Tensor scores = random_normal({2, 2, 3, 4}, 1).requires_grad_();
  fill(scores, mask).sum().backward();
  CHECK_THAT(scores.grad()[0][1], HasValues({{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}}, exactly));
  CHECK_THAT(scores.grad()[1][0], HasValues({{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}}, exactly));

  check_layer_gradients(fill, {random_normal({2, 2, 3, 4}, 1)}, [&](const std::vector<Tensor>& x) {
    return fill(x[0] * x[0], mask.with_fill(-3));
  });
  const Softmax softmax;
  check_layer_gradients(fill, {random_normal({2, 3, 4}, 1)},
                        [&](const std::vector<Tensor>& x) { return softmax(fill(x[0], mask)); });
}

TEST_CASE("MaskedFill refuses a mask that does not fit", "[masked_fill][errors]") {
  CHECK(error_text<ShapeError>([] {
          MaskedFill()(zeros({2, 1, 3, 4}), AttentionMask::hide_where(zeros({4, 3}, boolean)));
        }) ==
        "attention: the mask does not fit the scores\n"
        "  got    mask (4, 3) bool; scores would be (2, 1, 3, 4): batch, head, query, key\n"
        "  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)\n"
        "  hint   a (batch, key) mask marks padding: AttentionMask::padding(mask)");
  std::ostringstream out;
  out << MaskedFill();
  CHECK(out.str() == "MaskedFill");
}
