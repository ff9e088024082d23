#include "tests/support/mask_forms.h"

#include <algorithm>

#include "framework/ops/creation.h"

namespace gradus::testing {
namespace {

Hides either(const Hides& a, const Hides& b) {
  return [a, b](Index i, Index h, Index q, Index k) { return a(i, h, q, k) || b(i, h, q, k); };
}

Hides not_any(const Hides& a) {
  return [a](Index b, Index h, Index q, Index k) { return !a(b, h, q, k); };
}

bool none(Index, Index, Index, Index) { return false; }
bool later(Index, Index, Index q, Index k) { return k > q; }
bool of_qk(Index, Index, Index q, Index k) { return (2 * q + k) % 3 == 0; }
bool of_bqk(Index b, Index, Index q, Index k) { return (b + 2 * q + k) % 3 == 0; }
bool of_bhqk(Index b, Index h, Index q, Index k) { return (b + 2 * h + q + k) % 3 == 0; }
bool of_bk(Index b, Index, Index, Index k) { return k > 2 * b; }
bool one_row(Index b, Index h, Index q, Index k) { return (b == 0 && h == 1 && q == 2) || k == 1; }
bool row_of_both(Index, Index, Index q, Index k) { return q == 1 || k == 3; }
bool first_sample(Index b, Index, Index, Index k) { return k >= 3 * b; }
bool all_but_first_two(Index b, Index, Index, Index k) { return k >= 2 + 2 * b; }

}  // namespace

Tensor mask_of(const Shape& sizes, const Hides& at) {
  std::vector<bool> values;
  for (Index b = 0; b < sizes[0]; ++b) {
    for (Index h = 0; h < sizes[1]; ++h) {
      for (Index q = 0; q < sizes[2]; ++q) {
        for (Index k = 0; k < sizes[3]; ++k) values.push_back(at(b, h, q, k));
      }
    }
  }
  return from_vector(values, sizes);
}

std::vector<MaskForm> mask_forms_for(Index queries, Index keys) {
  const auto hide = AttentionMask::hide_where;
  const auto keep = AttentionMask::keep_where;
  const AttentionMask causal = AttentionMask::causal(queries, keys);
  const Index below = keys - queries;  // aligns the last query with the last key
  const Hides later_than_aligned = [below](Index, Index, Index q, Index k) {
    return k > q + below;
  };
  const auto filled = [&](Index batch, Index heads, const Hides& at) {
    return mask_of({batch, heads, queries, keys}, at);
  };
  const auto without_heads = [&](Index batch, const Hides& at) {
    return filled(batch, 1, at).squeeze(1);
  };
  const Tensor qk = without_heads(1, of_qk).squeeze(0);
  const Tensor bhqk = filled(2, 2, of_bhqk);
  const Tensor bk = mask_of({2, 1, 1, keys}, of_bk).view({2, keys});
  const Tensor closed = without_heads(1, row_of_both).squeeze(0);

  std::vector<MaskForm> forms;
  const auto form = [&](const char* name, const AttentionMask& mask, const Hides& hides,
                        bool of_heads = false) {
    forms.push_back({name, mask, hides, queries, keys, of_heads});
  };
  form("none", {}, none);
  form("causal, aligned above", causal, later);
  form("causal, aligned below", AttentionMask::causal(queries, keys, below), later_than_aligned);
  form("causal, a row closed", AttentionMask::causal(queries, keys, -1),
       [](Index, Index, Index q, Index k) { return k > q - 1; });
  form("hide (q,k)", hide(qk), of_qk);
  form("keep (q,k)", keep(without_heads(1, not_any(of_qk)).squeeze(0)), of_qk);
  form("hide (B,q,k)", hide(without_heads(2, of_bqk)), of_bqk);
  form("keep (B,q,k), int64", keep(without_heads(2, not_any(of_bqk)).to(int64)), of_bqk);
  form("hide (B,1,q,k)", hide(filled(2, 1, of_bqk)), of_bqk);
  form("keep (B,1,q,k)", keep(filled(2, 1, not_any(of_bqk))), of_bqk);
  form("hide (1,q,k)", hide(qk.unsqueeze(0)), of_qk);
  form("hide (B,H,q,k)", hide(bhqk), of_bhqk, true);
  form("keep (B,H,q,k), float64", keep(filled(2, 2, not_any(of_bhqk)).to(float64)), of_bhqk, true);
  form("hide (B,H,q,k), one row of one head closed", hide(filled(2, 2, one_row)), one_row, true);
  form("keep (B,1,1,k), float32", keep(mask_of({2, 1, 1, keys}, not_any(of_bk)).to(float32)),
       of_bk);
  form("padding (B,k)", AttentionMask::padding(bk), of_bk);
  form("padding by lengths", AttentionMask::padding({1, std::min<Index>(3, keys)}, keys), of_bk);
  form("padding, one sample empty", AttentionMask::padding({0, std::min<Index>(3, keys)}, keys),
       first_sample);
  form("causal | padding", causal | AttentionMask::padding({2, std::min<Index>(4, keys)}, keys),
       either(later, all_but_first_two));
  form("padding | causal, both close a row",
       AttentionMask::padding(bk) | AttentionMask::causal(queries, keys, -1),
       either(of_bk, [](Index, Index, Index q, Index k) { return k > q - 1; }));
  form("padding | (B,H,q,k)", AttentionMask::padding(bk) | hide(bhqk), either(of_bk, of_bhqk),
       true);
  form("causal, filled with -1e9", causal.with_fill(-1e9), later);
  form("a row closed with -1e9", hide(closed).with_fill(-1e9), row_of_both);
  form("a row closed", hide(closed), row_of_both);
  return forms;
}

}  // namespace gradus::testing
