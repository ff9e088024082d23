// AttentionMask: which keys a query may attend to, said so that true cannot be taken for false.
#include "framework/ops/attention_mask.h"

#include <limits>

#include "framework/core/error.h"
#include "framework/ops/compare.h"
#include "framework/ops/masking.h"
#include "framework/ops/softmax.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// What `mask` hides of scores (batch, heads, q, k), stretched to their shape.
Tensor hidden(const AttentionMask& mask, const Shape& scores) {
  return mask.hidden_for(zeros(scores)).expand(scores);
}

/// The same for one sample and one head, as (q, k).
Tensor hidden(const AttentionMask& mask, Index queries, Index keys) {
  return hidden(mask, {1, 1, queries, keys}).view({queries, keys});
}

const char* const kNeed =
    "\n  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)"
    "\n  hint   a (batch, key) mask marks padding: AttentionMask::padding(mask)";

}  // namespace

TEST_CASE("hide_where hides where the mask is true, keep_where where it is false", "[mask]") {
  const Tensor mask = tensor({{0, 1, 0}, {1, 1, 0}}, boolean);
  for (const DType dtype : {boolean, int64, float32, float64}) {
    const Tensor given = mask.to(dtype);
    CHECK_THAT(hidden(AttentionMask::hide_where(given), 2, 3), HasValues({{0, 1, 0}, {1, 1, 0}}));
    CHECK_THAT(hidden(AttentionMask::keep_where(given), 2, 3), HasValues({{1, 0, 1}, {0, 0, 1}}));
  }
  // Any number but 0 is true.
  CHECK_THAT(hidden(AttentionMask::hide_where(tensor({{-kInf, 0, 0.5}})), 1, 3),
             HasValues({{1, 0, 1}}));
  CHECK_THAT(hidden(AttentionMask::keep_where(tensor({{-2, 0, 7}}, int64)), 1, 3),
             HasValues({{0, 1, 0}}));
  CHECK_THAT(hidden(AttentionMask::hide_where(mask.transpose(0, 1)), 3, 2),
             HasValues({{0, 1}, {1, 1}, {0, 0}}));
}

TEST_CASE("a mask's axes are told by their number, not by their sizes", "[mask]") {
  // B = H = q = 2, so that every reading would fit.
  const Tensor qk = tensor({{1, 0, 0}, {0, 1, 0}}, boolean);
  const Tensor by_qk = hidden(AttentionMask::hide_where(qk), {2, 2, 2, 3});
  const Tensor bqk = tensor({{{1, 0, 0}, {0, 1, 0}}, {{0, 0, 1}, {1, 1, 0}}}, boolean);
  const Tensor by_bqk = hidden(AttentionMask::hide_where(bqk), {2, 2, 2, 3});
  for (Index b = 0; b < 2; ++b) {
    for (Index h = 0; h < 2; ++h) {
      CHECK_THAT(by_qk[b][h], IsCloseTo(qk));
      CHECK_THAT(by_bqk[b][h], IsCloseTo(bqk[b]));
    }
  }
  const Tensor bhqk = bqk.unsqueeze(0).expand({2, 2, 2, 3});  // the two as heads
  const Tensor by_bhqk = hidden(AttentionMask::hide_where(bhqk), {2, 2, 2, 3});
  CHECK_THAT(by_bhqk[1][0], IsCloseTo(bqk[0]));
  CHECK_THAT(by_bhqk[0][1], IsCloseTo(bqk[1]));
  CHECK_THAT(hidden(AttentionMask::hide_where(bqk.unsqueeze(1)), {2, 2, 2, 3}), IsCloseTo(by_bqk));

  const Tensor of_samples = tensor({{1, 0, 0}, {0, 1, 0}}, boolean);
  const Tensor by_sample = hidden(AttentionMask::padding(of_samples), {2, 2, 2, 3});
  for (Index b = 0; b < 2; ++b) {
    for (Index q = 0; q < 2; ++q) CHECK_THAT(by_sample[b][1][q], IsCloseTo(of_samples[b]));
  }
}

TEST_CASE("a mask for one head loses the head's axis", "[mask]") {
  const Tensor scores = zeros({2, 3, 4});
  CHECK(AttentionMask::causal(3, 4).hidden_for(scores).shape() == Shape{1, 3, 4});
  CHECK(AttentionMask::padding({1, 2}, 4).hidden_for(scores).shape() == Shape{2, 1, 4});
  CHECK(AttentionMask::hide_where(zeros({2, 1, 3, 4}, boolean)).hidden_for(scores).shape() ==
        Shape{2, 3, 4});
}

TEST_CASE("causal shows query i the keys up to i + offset", "[mask]") {
  const auto causal = [](Index q_len, Index k_len, Index offset) {
    return hidden(AttentionMask::causal(q_len, k_len, offset), q_len, k_len);
  };
  CHECK_THAT(causal(3, 3, 0), HasValues({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}));
  CHECK_THAT(causal(2, 4, 0), HasValues({{0, 1, 1, 1}, {0, 0, 1, 1}}));
  CHECK_THAT(causal(2, 4, 2), HasValues({{0, 0, 0, 1}, {0, 0, 0, 0}}));
  CHECK_THAT(causal(3, 2, 0), HasValues({{0, 1}, {0, 0}, {0, 0}}));
  CHECK_THAT(causal(3, 2, -1), HasValues({{1, 1}, {0, 1}, {0, 0}}));
  CHECK_THAT(causal(1, 3, 2), HasValues({{0, 0, 0}}));
  CHECK_THAT(causal(2, 2, -5), HasValues({{1, 1}, {1, 1}}));
  CHECK(AttentionMask::causal(0, 3).hidden_for(zeros({1, 1, 0, 3})).shape() == Shape{1, 1, 0, 3});
}

TEST_CASE("padding hides keys from every query of its sample", "[mask]") {
  const Tensor want = tensor({{0, 0, 1}, {1, 1, 1}, {0, 0, 0}}, boolean);
  const Shape scores{3, 2, 2, 3};
  const Tensor by_lengths = hidden(AttentionMask::padding({2, 0, 3}, 3), scores);
  for (Index b = 0; b < 3; ++b) CHECK_THAT(by_lengths[b][1][1], IsCloseTo(want[b]));
  CHECK_THAT(hidden(AttentionMask::padding(want), scores), IsCloseTo(by_lengths));
  CHECK_THAT(hidden(AttentionMask::padding(want.to(int64)), scores), IsCloseTo(by_lengths));
}

TEST_CASE("two masks hide what either hides", "[mask]") {
  const AttentionMask both =
      AttentionMask::causal(2, 3) | AttentionMask::padding(tensor({{1, 0, 0}, {0, 0, 0}}, boolean));
  const Tensor got = hidden(both, {2, 1, 2, 3});
  CHECK_THAT(got[0][0], HasValues({{1, 1, 1}, {1, 0, 1}}));
  CHECK_THAT(got[1][0], HasValues({{0, 1, 1}, {0, 0, 1}}));

  const AttentionMask causal = AttentionMask::causal(2, 3);
  CHECK_THAT(hidden(causal | AttentionMask(), 2, 3), IsCloseTo(hidden(causal, 2, 3)));
  CHECK_THAT(hidden(AttentionMask() | causal, 2, 3), IsCloseTo(hidden(causal, 2, 3)));
  CHECK((AttentionMask() | AttentionMask()).hides_nothing());
  CHECK_FALSE(both.hides_nothing());

  CHECK(error_text<ShapeError>([] { AttentionMask::causal(2, 3) | AttentionMask::causal(2, 4); }) ==
        "attention mask: shapes do not broadcast (3 vs 4 on axis 3)\n"
        "  got    x (1, 1, 2, 3), other (1, 1, 2, 4)\n"
        "  need   equal sizes on every axis, counted from the last, or a 1");
}

TEST_CASE("the fill is -inf unless the mask says otherwise, and the lowest one's in a pair",
          "[mask]") {
  const AttentionMask causal = AttentionMask::causal(2, 2);
  const Tensor scores = tensor({{{{1, 2}, {3, 4}}}});
  CHECK(causal.fill() == -kInf);
  CHECK_THAT(masked_fill(scores, causal), HasValues({{{{1, -kInf}, {3, 4}}}}, exactly));
  CHECK_THAT(masked_fill(scores, causal.with_fill(-7)), HasValues({{{{1, -7}, {3, 4}}}}, exactly));
  CHECK(causal.fill() == -kInf);  // with_fill left the mask as it was
  CHECK((causal.with_fill(-7) | causal).fill() == -kInf);
  CHECK((causal | causal.with_fill(-7)).fill() == -kInf);
  CHECK((AttentionMask() | causal.with_fill(-7)).fill() == -7);
}

TEST_CASE("of two masks each writes its own fill, and the lower where both hide", "[mask]") {
  const Tensor scores = zeros({1, 1, 3, 3}, float64);
  const AttentionMask left = AttentionMask::padding(tensor({{1, 0, 0}}, boolean)).with_fill(-7);
  const AttentionMask causal = AttentionMask::causal(3, 3);
  for (const AttentionMask& mask : {left | causal, causal | left}) {
    CHECK_THAT(masked_fill(scores, mask),
               HasValues({{{{-7, -kInf, -kInf}, {-7, 0, -kInf}, {-7, 0, 0}}}}, exactly));
    CHECK_THAT(mask.hidden_for(scores).to(float64),
               HasValues({{{{1, 1, 1}, {1, 0, 1}, {1, 0, 0}}}}, exactly));
    CHECK_THAT(masked_fill(scores, mask.with_fill(-2)),
               HasValues({{{{-2, -2, -2}, {-2, 0, -2}, {-2, 0, 0}}}}, exactly));
  }
  const AttentionMask both = left | causal.with_fill(-9) | causal.with_fill(-7);
  CHECK_THAT(masked_fill(scores, both),
             HasValues({{{{-7, -9, -9}, {-7, 0, -9}, {-7, 0, 0}}}}, exactly));
}

TEST_CASE("a mask that hides nothing leaves the scores as they are", "[mask]") {
  const Tensor scores = random_normal({1, 1, 2, 2}, 1);
  CHECK(AttentionMask().hides_nothing());
  CHECK(masked_fill(scores, AttentionMask()).is_same(scores));
}

TEST_CASE("a mask that does not fit names both shapes", "[mask][errors]") {
  const Tensor scores = zeros({8, 4, 24, 24});
  const auto unfit = [&](const AttentionMask& mask) {
    return error_text<ShapeError>([&] { masked_fill(scores, mask); });
  };
  const std::string first = "attention: the mask does not fit the scores\n  got    mask ";
  const std::string then = "; scores would be (8, 4, 24, 24): batch, head, query, key";
  CHECK(unfit(AttentionMask::hide_where(zeros({8, 24}, boolean))) ==
        first + "(8, 24) bool" + then + kNeed);
  CHECK(unfit(AttentionMask::hide_where(zeros({4, 24, 24}))) ==
        first + "(4, 24, 24) float32" + then + kNeed);
  CHECK(unfit(AttentionMask::padding({1, 2}, 24)) == first + "(2, 24) bool" + then + kNeed);
  CHECK(error_text<ShapeError>([&] {
          AttentionMask::causal(24, 24).hidden_for(zeros({24, 24}));
        }).starts_with(first + "(24, 24) bool; scores would be (24, 24)"));
}

TEST_CASE("a mask of other than two to four axes is refused where it is made", "[mask][errors]") {
  CHECK(error_text<ShapeError>([] { AttentionMask::hide_where(zeros({24}, boolean)); }) ==
        "attention mask: 1 axes are not understood\n"
        "  got    mask (24,) bool\n"
        "  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)");
  CHECK(error_text<ShapeError>([] {
          AttentionMask::keep_where(zeros({1, 1, 1, 2, 2}));
        }) ==
        "attention mask: 5 axes are not understood\n"
        "  got    mask (1, 1, 1, 2, 2) float32\n"
        "  need   (q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)");
  CHECK(error_text<ShapeError>([] {
          AttentionMask::padding(zeros({2, 3, 3}, boolean));
        }) ==
        "attention mask: padding needs (batch, key)\n"
        "  got    hidden (2, 3, 3) bool");
  CHECK(error_text<ValueError>([] {
          AttentionMask::padding({2, 5}, 4);
        }) == "attention mask: length 5 is outside 0..4");
  CHECK(error_text<ValueError>([] { AttentionMask::padding({-1}, 4); }) ==
        "attention mask: length -1 is outside 0..4");
}

TEST_CASE("a finite fill below all float32 numbers stays finite, alone and in pairs", "[mask]") {
  for (const double fill : {-3.4e38, -1e39, -1e300}) {
    INFO(fill);
    const AttentionMask all = AttentionMask::hide_where(ones({1, 3}, boolean)).with_fill(fill);
    const AttentionMask both = all | AttentionMask::causal(1, 3).with_fill(fill) | all;
    for (const DType dtype : {float32, float64}) {
      const Tensor scores = tensor({{{{1, 2, 3}}}}, dtype);
      for (const AttentionMask& mask : {all, both}) {
        const Tensor filled = masked_fill(scores, mask);
        CHECK_FALSE(any(isinf(filled)));
        CHECK_THAT(softmax(filled, -1), HasValues({{{{1 / 3., 1 / 3., 1 / 3.}}}}));
      }
    }
  }
}

TEST_CASE("a mask knows its causal rule, and what it hides beside", "[mask]") {
  const Shape scores{2, 1, 3, 5};
  const auto causal = [](Index offset) { return AttentionMask::causal(3, 5, offset); };
  const AttentionMask padding = AttentionMask::padding({5, 2}, 5);
  const auto offset_of = [&](const AttentionMask& mask) { return mask.causal_offset_for(scores); };

  CHECK(offset_of(causal(2)) == 2);
  CHECK(offset_of(causal(-1)) == -1);
  CHECK(offset_of(causal(0) | AttentionMask()) == 0);
  CHECK(causal(0).without_causal().hides_nothing());
  CHECK(offset_of(causal(2) | causal(1)) == 1);
  CHECK(offset_of(padding | causal(1)) == 1);
  for (const AttentionMask& both : {padding | causal(1), causal(1) | padding}) {
    CHECK_THAT(both.without_causal().hidden_for(scores),
               IsCloseTo(padding.hidden_for(scores), exactly));
  }

  CHECK_FALSE(offset_of(AttentionMask()));
  CHECK_FALSE(offset_of(padding));
  CHECK_FALSE(offset_of(AttentionMask::hide_where(zeros({3, 5}, boolean))));
  CHECK_FALSE(offset_of(causal(0).with_fill(-1e9)));
  CHECK(offset_of(causal(0).with_fill(-kInf)) == 0);
  CHECK_FALSE(offset_of(AttentionMask::causal(1, 5)));  // one row for all queries is no such rule
  CHECK_THROWS_AS(offset_of(AttentionMask::causal(4, 5)), ShapeError);
}

TEST_CASE("a causal mask takes any offset", "[mask]") {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  const Shape scores{1, 1, 2, 3};
  CHECK_THAT(AttentionMask::causal(2, 3, kMost).hidden_for(scores),
             HasValues({{{{0, 0, 0}, {0, 0, 0}}}}, exactly));
  CHECK_THAT(AttentionMask::causal(2, 3, -kMost).hidden_for(scores),
             HasValues({{{{1, 1, 1}, {1, 1, 1}}}}, exactly));
}

TEST_CASE("causal masks join: of one size by their rules, of others as tensors", "[mask]") {
  const Shape scores{1, 1, 3, 3};
  const AttentionMask one = AttentionMask::causal(3, 3, 1) | AttentionMask::causal(3, 3);
  CHECK_THAT(one.hidden_for(scores),
             IsCloseTo(AttentionMask::causal(3, 3).hidden_for(scores), exactly));
  const AttentionMask row = AttentionMask::causal(3, 3, 1) | AttentionMask::causal(1, 3);
  CHECK_THAT(row.hidden_for(scores), HasValues({{{{0, 1, 1}, {0, 1, 1}, {0, 1, 1}}}}, exactly));
  CHECK(error_text<ShapeError>([] {
          AttentionMask::causal(3, 3) | AttentionMask::causal(4, 3);
        }).starts_with("attention mask: "));
}
