// scaled_dot_product_attention, which works block by block, against its composed form, which holds
// all weights: sizes about those of the blocks, every form of mask, strides, dropout, and what is
// not finite.
#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "framework/autograd/backward.h"
#include "framework/core/random.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/attention.h"
#include "framework/ops/attention_composed_internal.h"
#include "framework/ops/creation.h"
#include "framework/ops/reduce.h"
#include "framework/ops/views.h"
#include "tests/support/child.h"
#include "tests/support/gradcheck.h"
#include "tests/support/mask_forms.h"
#include "tests/support/op_table.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

struct Sizes {
  Index batch;
  Index heads;
  Index shared_heads;
  Index queries;
  Index keys;
  Index width;
  Index value_width;
};

/// Query, key and value, to be differentiated by.
std::vector<Tensor> operands(const Sizes& s, DType dtype) {
  std::vector<Tensor> x{random_normal({s.batch, s.heads, s.queries, s.width}, 1, dtype),
                        random_normal({s.batch, s.shared_heads, s.keys, s.width}, 2, dtype),
                        random_normal({s.batch, s.shared_heads, s.keys, s.value_width}, 3, dtype)};
  for (Tensor& each : x) each.requires_grad_();
  return x;
}

/// The composed form of the call, its dropout drawn from the same place of the same stream.
Tensor composed(const std::vector<Tensor>& x, const AttentionOptions& options) {
  const double root = std::sqrt(static_cast<double>(x[0].size(3)));
  return composed_attention(
      x[0], x[1], x[2],
      {.mask = options.mask,
       .is_causal = options.is_causal,
       .causal_offset = options.causal_offset,
       .scale = options.scale.value_or(1 / root),
       .dropout_p = options.dropout_p,
       .dropout_key = options.dropout_p == 0 ? 0 : LockedGenerator()->next_key()});
}

Tensor by_blocks(const std::vector<Tensor>& x, AttentionOptions options) {
  options.enable_gqa = true;
  return scaled_dot_product_attention(x[0], x[1], x[2], options);
}

/// The result and the gradients by query, key and value.
template <class Attention>
std::vector<Tensor> found_by(Attention attention, const std::vector<Tensor>& x,
                             const AttentionOptions& options) {
  manual_seed(7);
  const Tensor y = attention(x, options);
  const Tensor g = random_normal(y.shape(), 4, y.dtype());
  std::vector<Tensor> found = gradients({y}, x, {.grad_outputs = {g}});
  found.push_back(y.detach());
  return found;
}

void check_agreement(const std::vector<Tensor>& x, const AttentionOptions& options) {
  const std::vector<Tensor> got = found_by(by_blocks, x, options);
  const std::vector<Tensor> want = found_by(composed, x, options);
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO((i == 3 ? "the result" : text("the gradient by operand ", i)));
    CHECK_THAT(got[i], IsCloseTo(want[i]));
  }
}

/// The same numbers as (B, length, H, d) in memory, as split_heads leaves them.
Tensor as_split_heads(const Tensor& x) { return x.transpose(1, 2).contiguous().transpose(1, 2); }

/// Every second feature of something wider.
Tensor with_gaps(const Tensor& x) {
  Shape wide = x.shape();
  wide[3] = 2 * wide[3];
  Tensor part = full(wide, kNaN, x.dtype()).slice(3, 0, std::nullopt, 2);
  return part.copy_(x);
}

std::vector<Tensor> changed(const std::vector<Tensor>& x, Tensor (*change)(const Tensor&)) {
  std::vector<Tensor> result;
  for (const Tensor& each : x) result.push_back(change(each.detach()).requires_grad_());
  return result;
}

}  // namespace

TEST_CASE("attention by blocks: lengths about those of the blocks", "[sdpa]") {
  const DType dtype = GENERATE(float32, float64);
  for (const Index queries : {0, 1, 2, 63, 64, 65, 130}) {
    for (const Index keys : {0, 1, 5, 64, 127, 128, 129, 257}) {
      INFO(queries << " queries, " << keys << " keys, " << dtype);
      const std::vector<Tensor> x = operands({1, 2, 2, queries, keys, 5, 3}, dtype);
      check_agreement(x, {});
      check_agreement(x, {.is_causal = true});
      check_agreement(x, {.is_causal = true, .causal_offset = keys - queries});
      check_agreement(x, {.dropout_p = 0.3, .is_causal = true, .causal_offset = 1});
    }
  }
}

TEST_CASE("attention by blocks: every form of mask", "[sdpa]") {
  const DType dtype = GENERATE(float32, float64);
  const Index queries = GENERATE(3, 70);
  const Index keys = GENERATE(4, 150);
  for (const MaskForm& form : mask_forms_for(queries, keys)) {
    INFO(form.name << ", " << queries << " queries, " << keys << " keys, " << dtype);
    const std::vector<Tensor> x = operands({2, 2, 1, queries, keys, 4, 6}, dtype);
    check_agreement(x, {.mask = form.mask});
    check_agreement(x, {.mask = form.mask, .dropout_p = 0.5, .is_causal = true});
  }
}

// A causal mask of one query, or of one key, is shared by all of them, as any mask is.
TEST_CASE("attention by blocks: a causal mask of other lengths is no causal rule", "[sdpa]") {
  const DType dtype = GENERATE(float32, float64);
  const std::vector<Tensor> x = operands({1, 2, 2, 3, 4, 5, 6}, dtype);
  for (const Index offset : {-1, 0, 1}) {
    check_agreement(x, {.mask = AttentionMask::causal(1, 4, offset)});
    check_agreement(x, {.mask = AttentionMask::causal(3, 1, offset)});
    check_agreement(x, {.mask = AttentionMask::causal(1, 1, offset), .is_causal = true});
  }
}

TEST_CASE("attention by blocks: sizes of nothing and of one", "[sdpa]") {
  const Sizes all[] = {{0, 2, 1, 3, 4, 5, 6}, {2, 0, 2, 3, 4, 5, 6}, {2, 2, 1, 3, 4, 0, 6},
                       {2, 2, 1, 3, 4, 5, 0}, {1, 1, 1, 1, 1, 1, 1}, {2, 6, 2, 3, 4, 1, 1}};
  for (const Sizes& sizes : all) {
    for (const DType dtype : {float32, float64}) {
      const std::vector<Tensor> x = operands(sizes, dtype);
      check_agreement(x, {.scale = 0.5});
      check_agreement(x, {.dropout_p = 0.5, .is_causal = true, .scale = 0.5});
    }
  }
}

TEST_CASE("attention by blocks: groups of queries, any strides", "[sdpa]") {
  const DType dtype = GENERATE(float32, float64);
  const std::vector<Tensor> x = operands({2, 6, 2, 70, 140, 4, 3}, dtype);
  const AttentionOptions options{.mask = AttentionMask::padding({140, 60}, 140), .dropout_p = 0.2};
  check_agreement(x, options);
  check_agreement(changed(x, as_split_heads), options);
  check_agreement(changed(x, stored_transposed), options);
  check_agreement(changed(x, with_gaps), options);
  const std::vector<Tensor> one = operands({1, 1, 1, 1, 1, 4, 4}, dtype);
  check_agreement(
      {one[0].expand({2, 4, 70, 4}), one[1].expand({2, 2, 9, 4}), one[2].expand({2, 2, 9, 4})}, {});
}

TEST_CASE("attention by blocks: heads of a view are read, and can be merged, in place", "[sdpa]") {
  const std::vector<Tensor> leaves = operands({2, 3, 3, 5, 5, 4, 4}, float64);
  const std::vector<Tensor> packed = {leaves[0] * 1.0, leaves[1] * 1.0, leaves[2] * 1.0};
  int in_order = 0;
  const auto count_gradients = [&](const Tensor& x, bool of_view) {
    x.register_hook([&in_order, of_view](const Tensor& gradient) {
      in_order += (of_view ? gradient.transpose(1, 2) : gradient).is_contiguous();
      return Tensor();
    });
  };
  std::vector<Tensor> views;
  for (const Tensor& x : packed) views.push_back(as_split_heads(x));
  for (const Tensor& x : views) count_gradients(x, true);
  const Tensor y = scaled_dot_product_attention(views[0], views[1], views[2]);
  CHECK(y.transpose(1, 2).is_contiguous());
  gradients({y.sum()}, leaves, {.retain_graph = true});
  CHECK(in_order == 3);

  for (const Tensor& x : packed) count_gradients(x, false);
  const Tensor same = scaled_dot_product_attention(packed[0], packed[1], packed[2]);
  CHECK(same.is_contiguous());
  CHECK_THAT(same, IsCloseTo(y, exactly));
  gradients({same.sum()}, leaves);
  CHECK(in_order == 6);
}

// A hidden weight is 0, and 0 times NaN is NaN: blocks that hide may not be left out then.
TEST_CASE("attention by blocks: what is not finite spreads as in the composed form", "[sdpa]") {
  const DType dtype = GENERATE(float32, float64);
  const double value = GENERATE(double{kNaN}, double{kInf}, -kInf);
  const auto operand = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2});
  const AttentionOptions all[] = {
      {},
      {.is_causal = true},
      {.mask = AttentionMask::padding({100}, 150)},
      {.mask = AttentionMask::padding({0}, 150), .is_causal = true},
  };
  for (const AttentionOptions& options : all) {
    for (const Index place : {3, 66, 149}) {
      INFO(value << " in operand " << operand << " at " << place << ", " << dtype);
      std::vector<Tensor> x = operands({1, 1, 1, 150, 150, 4, 4}, dtype);
      x[operand] = x[operand].detach();
      x[operand].select(2, place).slice(2, 1, 2).fill_(value);
      x[operand].requires_grad_();
      check_agreement(x, options);
    }
  }
}

TEST_CASE("attention by blocks: gradients that are differentiated again are the same", "[sdpa]") {
  const std::vector<Tensor> x = operands({2, 4, 2, 3, 5, 4, 3}, float64);
  const AttentionOptions options{.dropout_p = 0.3, .is_causal = true, .causal_offset = 1};
  manual_seed(7);
  const Tensor y = by_blocks(x, options);
  const Tensor g = random_normal(y.shape(), 4);
  const std::vector<Tensor> again =
      gradients({y}, x, {.grad_outputs = {g}, .create_graph = true, .retain_graph = true});
  const std::vector<Tensor> once = gradients({y}, x, {.grad_outputs = {g}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(again[i].requires_grad());
    CHECK_THAT(once[i], IsCloseTo(again[i].detach()));
  }
}

TEST_CASE("attention by blocks: causal offsets beyond all keys, either way", "[sdpa]") {
  const std::vector<Tensor> x = operands({1, 1, 1, 3, 5, 2, 2}, float64);
  const Index far = std::numeric_limits<Index>::max() - 2;
  const Tensor all = by_blocks(x, {.is_causal = true, .causal_offset = far});
  CHECK_THAT(all, IsCloseTo(by_blocks(x, {}), exactly));
  const Tensor none = by_blocks(x, {.is_causal = true, .causal_offset = -far});
  CHECK_THAT(none, IsCloseTo(zeros_like(none), exactly));
}

TEST_CASE("attention by blocks: one step of the tape", "[sdpa]") {
  const std::vector<Tensor> x = operands({1, 2, 2, 3, 4, 5, 6}, float64);
  std::set<std::string> steps;
  collect_steps(scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true}), steps);
  CHECK(steps == std::set<std::string>{"scaled_dot_product_attention"});
}

// ---- memory ----

namespace {

#ifdef NDEBUG
constexpr Index kLength = 8192;
#else
constexpr Index kLength = 2048;  // for builds that are slow
#endif

Index peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

}  // namespace

#ifndef __SANITIZE_THREAD__  // whose own memory grows with what it watches

// Run by the test below: the peak of a process is a mark that only rises.
TEST_CASE("attention by blocks: memory", "[.attention-memory]") {
  if (!is_child()) return;
  const auto pass = [](Index length) {
    std::vector<Tensor> x = operands({1, 1, 1, length, length, 64, 64}, float32);
    const Tensor y = scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true});
    return gradients({y}, x, {.grad_outputs = {ones_like(y)}});
  };
  pass(64);  // the program's own pages
  const Index before = peak_bytes();
  const std::vector<Tensor> gradients = pass(kLength);
  // Inputs, the result and its gradient, and theirs: each (length, 64) of float32.
  const Index operands_bytes = 8 * kLength * 64 * 4;
  const Index spent = peak_bytes() - before;
  INFO(spent << " bytes, " << operands_bytes << " of them operands");
  CHECK(spent - operands_bytes < Index{64} * 1024 * 1024 * kLength / 8192);
}

TEST_CASE("attention by blocks: memory is linear in the length", "[sdpa]") {
  const ChildResult child = run_child("GRADUS_NUM_THREADS=2", "[.attention-memory]");
  INFO(child.output);
  CHECK(child.exit_code == 0);
}

#endif
