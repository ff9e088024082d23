// Rules that add their gradient to what an input has received already: when they may, and that the
// sum is the same.
#include <string>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/autograd/trace.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/creation.h"
#include "framework/ops/indexing.h"
#include "framework/ops/join.h"
#include "framework/ops/linear.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// x itself; its rule notes whether x has a sum that may be added to.
Tensor watched(const Tensor& x, std::vector<bool>& saw_sum) {
  return record("watched", x.detach(), {x}, Saves::nothing, [&saw_sum](const Vjp& v) {
    saw_sum.push_back(v.sum_so_far(0).defined());
    return v.grad() * 1.0;
  });
}

Tensor twice_watched(const Tensor& x, std::vector<bool>& saw_sum) {
  return sum(watched(x, saw_sum) * watched(x, saw_sum));
}

}  // namespace

TEST_CASE("gradient sums: a rule sees what came before it", "[gradient_sums]") {
  const Tensor x = leaf({1, 2, 3});
  std::vector<bool> saw_sum;
  twice_watched(x, saw_sum).backward();
  CHECK(saw_sum == std::vector<bool>{false, true});
  CHECK_THAT(x.grad(), HasValues({2, 4, 6}));
}

TEST_CASE("gradient sums: none where gradients are differentiated again or looked at one by one",
          "[gradient_sums]") {
  const Tensor x = leaf({1, 2, 3});
  std::vector<bool> saw_sum;
  SECTION("create_graph") { gradients({twice_watched(x, saw_sum)}, {x}, {.create_graph = true}); }
  SECTION("NanTrace") {
    const NanTrace trace;
    twice_watched(x, saw_sum).backward();
  }
  CHECK(saw_sum == std::vector<bool>{false, false});
}

TEST_CASE("gradient sums: a gradient that others share is not added to", "[gradient_sums]") {
  const Tensor weight = leaf({{1, 2}, {3, 4}});
  const Tensor x = leaf({{5, 6}});
  const Tensor other = leaf({{7, 8}});
  const Tensor g = tensor({{1, 10}}, float64);
  const Tensor y = linear(x, weight);
  const Tensor both = x + other;  // newer: its rule hands one tensor to x and to other
  (sum(y * g) + sum(both * g)).backward();
  CHECK_THAT(other.grad(), HasValues({{1, 10}}));
  CHECK_THAT(x.grad(), HasValues({{1 + 31, 10 + 42}}));
}

TEST_CASE("gradient sums: a gradient that a hook keeps is not added to", "[gradient_sums]") {
  const Tensor weight = leaf({{1, 2}, {3, 4}});
  const Tensor x = leaf({{5, 6}});
  Tensor kept;
  const Tensor y = linear(x, weight);
  const Tensor seen = x.view({1, 2});
  seen.register_hook([&kept](const Tensor& gradient) {
    kept = gradient;
    return gradient;
  });
  (sum(y) + sum(seen)).backward();
  CHECK_THAT(kept, HasValues({{1, 1}}));
  CHECK_THAT(x.grad(), HasValues({{1 + 4, 1 + 6}}));
}

TEST_CASE("gradient sums: a leaf's gradient grows in its memory, unless somebody holds it",
          "[gradient_sums]") {
  const Tensor x = leaf({1, 2});
  sum(x * 2).backward();
  const void* const place = x.grad().raw();
  sum(x * x).backward();
  CHECK(x.grad().raw() == place);
  const Tensor held = x.grad();
  sum(x).backward();
  CHECK_THAT(held, HasValues({4, 6}));
  CHECK_THAT(x.grad(), HasValues({5, 7}));
}

TEST_CASE("gradient sums: slices of one tensor, overlapping, in steps and apart",
          "[gradient_sums][gradcheck]") {
  const std::vector<Tensor> x{stored_transposed(random_normal({3, 5}, 1)).requires_grad_()};
  CHECK_GRADIENTS(
      [](const std::vector<Tensor>& in) {
        const Tensor cubes = in[0] * in[0] * in[0];
        return cat({cubes.slice(1, 0, 3), cubes.slice(1, 1, 5, 2), cubes.slice(1, 4, 4),
                    cubes.select(1, 2).unsqueeze(1), cubes.slice(0, 2).expand({3, 5})},
                   1);
      },
      x, {.order = 2});
}

TEST_CASE("gradient sums: one weight of several products", "[gradient_sums][gradcheck]") {
  const std::vector<Tensor> in{random_normal({2, 3, 4}, 1).requires_grad_(),
                               random_normal({4, 4}, 2).requires_grad_(),
                               random_normal({4}, 3).requires_grad_()};
  CHECK_GRADIENTS(
      [](const std::vector<Tensor>& x) {
        const Tensor once = linear(x[0], x[1], x[2]);
        return linear(once, x[1], x[2]) * linear(x[0], x[1]);
      },
      in, {.order = 2});
}

TEST_CASE("gradient sums: a table of rows that is a weight, too", "[gradient_sums][gradcheck]") {
  const Tensor indices = tensor({{0, 2, 2}, {3, 0, 1}}, int64);
  CHECK_GRADIENTS(
      [&indices](const std::vector<Tensor>& x) { return linear(embedding(indices, x[0]), x[0]); },
      {random_normal({4, 5}, 1).requires_grad_()}, {.order = 2});
}
