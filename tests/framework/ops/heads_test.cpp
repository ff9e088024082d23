// Heads: split and merged by hand, as views where that is possible, and by a copy where it is not.
#include "framework/ops/heads_internal.h"

#include "framework/autograd/backward.h"
#include "framework/ops/creation.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

bool share_memory(const Tensor& a, const Tensor& b) { return a.raw() == b.raw(); }

}  // namespace

TEST_CASE("split_heads: features of one head side by side, heads before positions") {
  const Tensor x = arange(12).view({1, 3, 4});
  const Tensor y = split_heads(x, 2);
  CHECK(y.shape() == Shape{1, 2, 3, 2});
  CHECK_THAT(y[0][0], HasValues({{0, 1}, {4, 5}, {8, 9}}));
  CHECK_THAT(y[0][1], HasValues({{2, 3}, {6, 7}, {10, 11}}));
  CHECK(share_memory(x, y));
}

TEST_CASE("split_heads: of what is strided, too") {
  const Tensor x = arange(12).view({1, 4, 3}).transpose(1, 2);
  CHECK_THAT(split_heads(x, 2), IsCloseTo(x.reshape({1, 3, 2, 2}).transpose(1, 2), exactly));
}

TEST_CASE("merge_heads: undoes split_heads without a copy") {
  const Tensor x = arange(24).view({2, 3, 4});
  const Tensor merged = merge_heads(split_heads(x, 2));
  CHECK_THAT(merged, IsCloseTo(x, exactly));
  CHECK(share_memory(x, merged));
}

TEST_CASE("merge_heads: copies heads that do not lie side by side") {
  const Tensor x = arange(12).view({1, 2, 3, 2});
  const Tensor merged = merge_heads(x);
  CHECK_THAT(merged, HasValues({{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}}}));
  CHECK_FALSE(share_memory(x, merged));
}

TEST_CASE("merge_heads: one head is merged where it lies") {
  const Tensor x = arange(12).view({2, 1, 3, 2});
  const Tensor merged = merge_heads(x);
  CHECK_THAT(merged, IsCloseTo(x.squeeze(1), exactly));
  CHECK(share_memory(x, merged));
}

TEST_CASE("merge_heads: memory made for it is merged as it is") {
  const Tensor y = empty_heads({2, 3, 4, 5}, float32);
  CHECK(y.shape() == Shape{2, 3, 4, 5});
  CHECK(share_memory(y, merge_heads(y)));
  CHECK(merge_heads(y).is_contiguous());
}

TEST_CASE("split_heads and merge_heads: one step each, which hands the gradient back") {
  const Tensor x = arange(4, float64).view({1, 1, 4}).requires_grad_();
  const Tensor split = split_heads(x, 2);
  CHECK(step_name(split.impl().node.get()) == std::string("split_heads"));
  split.backward({.gradient = tensor({5, 6, 7, 8}, float64).view({1, 2, 1, 2})});
  CHECK_THAT(x.grad(), HasValues({{{5, 6, 7, 8}}}));

  const Tensor heads = arange(4, float64).view({1, 2, 1, 2}).requires_grad_();
  const Tensor merged = merge_heads(heads);
  CHECK(step_name(merged.impl().node.get()) == std::string("merge_heads"));
  merged.backward({.gradient = tensor({5, 6, 7, 8}, float64).view({1, 1, 4})});
  CHECK_THAT(heads.grad(), HasValues({{{{5, 6}}, {{7, 8}}}}));
}
