#include "framework/ops/attention_mask.h"

#include <algorithm>
#include <cmath>

#include "framework/ops/checks.h"
#include "framework/ops/compare.h"
#include "framework/ops/creation.h"
#include "framework/ops/masking.h"

namespace gradus {
namespace {

/// (q, k), (B, q, k) or (B, H, q, k), as four axes.
Tensor with_four_axes(const Tensor& mask) {
  switch (mask.dim()) {
    case 2: return mask.unsqueeze(0).unsqueeze(0);
    case 3: return mask.unsqueeze(1);
    case 4: return mask;
    default:
      throw ShapeError(text("attention mask: ", mask.dim(), " axes are not understood"),
                       {.got = text("mask ", described(mask)),
                        .need = "(q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)"});
  }
}

}  // namespace

AttentionMask::AttentionMask(const Tensor& given, const Tensor& hidden)
    : hidden_(hidden), given_(described(given)) {}

AttentionMask AttentionMask::hide_where(const Tensor& mask) {
  return {mask, ne(with_four_axes(mask), 0.0)};
}

AttentionMask AttentionMask::keep_where(const Tensor& mask) {
  return {mask, eq(with_four_axes(mask), 0.0)};
}

AttentionMask AttentionMask::causal(Index q_len, Index k_len, Index offset) {
  if (q_len < 0 || k_len < 0) {
    throw ValueError(
        text("attention mask: causal needs lengths of at least 0, not ", q_len, " and ", k_len));
  }
  const Tensor query = arange(static_cast<double>(q_len)).unsqueeze(1);
  const Tensor key = arange(static_cast<double>(k_len)).unsqueeze(0);
  return hide_where(gt(key, query + static_cast<double>(offset)));
}

AttentionMask AttentionMask::padding(const Tensor& hidden) {
  if (hidden.dim() != 2) {
    throw ShapeError("attention mask: padding needs (batch, key)",
                     {.got = text("hidden ", described(hidden))});
  }
  return {hidden, ne(hidden, 0.0).unsqueeze(1).unsqueeze(1)};
}

AttentionMask AttentionMask::padding(const std::vector<Index>& lengths, Index k_len) {
  if (k_len < 0) throw ValueError(text("attention mask: padding cannot have ", k_len, " keys"));
  for (const Index length : lengths) {
    if (length < 0 || length > k_len) {
      throw ValueError(text("attention mask: length ", length, " is outside 0..", k_len));
    }
  }
  const Tensor key = arange(static_cast<double>(k_len)).unsqueeze(0);
  return padding(ge(key, from_vector(lengths).unsqueeze(1)));
}

AttentionMask AttentionMask::with_fill(double score) const {
  if (std::isnan(score) || score == std::numeric_limits<double>::infinity()) {
    throw ValueError(text("attention mask: a fill of ", score, " hides nothing"),
                     {.need = "a number, or -inf"});
  }
  AttentionMask mask = *this;
  mask.fill_ = score;
  return mask;
}

AttentionMask operator|(const AttentionMask& a, const AttentionMask& b) {
  if (a.hides_nothing() || b.hides_nothing()) return a.hides_nothing() ? b : a;
  AttentionMask both = a;
  broadcast_shape("attention mask", a.hidden_.shape(), b.hidden_.shape());  // for its error
  both.hidden_ = logical_or(a.hidden_, b.hidden_);
  both.given_ = a.given_ + " | " + b.given_;
  return both;
}

Tensor AttentionMask::hidden_for(const Tensor& scores) const {
  if (hides_nothing()) return zeros(Shape::filled(scores.dim(), 1), boolean);
  const Tensor four = scores.dim() == 3 ? scores.detach().unsqueeze(1) : scores.detach();
  bool fits = four.dim() == 4;
  for (Index axis = 0; axis < 4 && fits; ++axis) {
    fits = hidden_.shape()[axis] == four.shape()[axis] || hidden_.shape()[axis] == 1;
  }
  if (!fits) {
    throw ShapeError("attention: the mask does not fit the scores",
                     {.got = text("mask ", given_, "; scores would be ", four.shape(),
                                  ": batch, head, query, key"),
                      .need = "(q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)",
                      .hint = "a (batch, key) mask marks padding: AttentionMask::padding(mask)"});
  }
  return scores.dim() == 3 ? hidden_.squeeze(1) : hidden_;
}

Tensor masked_fill(const Tensor& scores, const AttentionMask& mask) {
  if (mask.hides_nothing()) return scores;
  // A finite fill stays finite in float32, too: it makes keys unlikely, and does not take them out.
  const double lowest = scores.dtype() == float32 ? double{std::numeric_limits<float>::lowest()}
                                                  : std::numeric_limits<double>::lowest();
  const double fill = std::isfinite(mask.fill()) ? std::max(mask.fill(), lowest) : mask.fill();
  return masked_fill(scores, mask.hidden_for(scores), fill);
}

}  // namespace gradus
