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
    : parts_{{hidden}}, given_(described(given)) {}

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
  AttentionMask mask = hide_where(gt(key, query + static_cast<double>(offset)));
  mask.causal_offset_ = offset;
  return mask;
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
  AttentionMask mask;
  mask.given_ = given_;
  for (const Part& part : parts_) mask.add({part.hidden, score});
  return mask;
}

bool AttentionMask::takes_out() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.fill == Part().fill; });
}

double AttentionMask::fill() const { return hides_nothing() ? Part().fill : parts_.back().fill; }

void AttentionMask::add(const Part& part) {
  for (const Part& known : parts_) {
    broadcast_shape("attention mask", known.hidden.shape(), part.hidden.shape());  // for its error
  }
  const auto place = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const Part& known) { return known.fill <= part.fill; });
  if (place != parts_.end() && place->fill == part.fill) {
    place->hidden = logical_or(place->hidden, part.hidden);
  } else {
    parts_.insert(place, part);
  }
}

AttentionMask operator|(const AttentionMask& a, const AttentionMask& b) {
  if (a.hides_nothing() || b.hides_nothing()) return a.hides_nothing() ? b : a;
  AttentionMask both = a;
  for (const AttentionMask::Part& part : b.parts_) both.add(part);
  both.given_ = a.given_ + " | " + b.given_;
  both.causal_offset_.reset();
  return both;
}

Tensor AttentionMask::hidden_for(const Shape& scores) const {
  if (hides_nothing()) return zeros(Shape::filled(scores.size(), 1), boolean);
  Tensor hidden;
  for (const Part& part : parts_) {
    const Tensor own = fitted(part.hidden, scores);
    hidden = hidden.defined() ? logical_or(hidden, own) : own;
  }
  return hidden;
}

Tensor AttentionMask::fitted(const Tensor& hidden, const Shape& scores) const {
  Shape four = scores;
  if (scores.size() == 3) four = {scores[0], 1, scores[1], scores[2]};
  bool fits = four.size() == 4;
  for (Index axis = 0; axis < 4 && fits; ++axis) {
    fits = hidden.shape()[axis] == four[axis] || hidden.shape()[axis] == 1;
  }
  if (!fits) {
    throw ShapeError(
        "attention: the mask does not fit the scores",
        {.got = text("mask ", given_, "; scores would be ", four, ": batch, head, query, key"),
         .need = "(q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)",
         .hint = "a (batch, key) mask marks padding: AttentionMask::padding(mask)"});
  }
  return scores.size() == 3 ? hidden.squeeze(1) : hidden;
}

Tensor masked_fill(const Tensor& scores, const AttentionMask& mask) {
  // A finite fill stays finite in float32, too: it makes keys unlikely, and does not take them out.
  const double lowest = scores.dtype() == float32 ? double{std::numeric_limits<float>::lowest()}
                                                  : std::numeric_limits<double>::lowest();
  Tensor filled = scores;
  for (const auto& [hidden, score] : mask.parts_) {
    const double fill = std::isfinite(score) ? std::max(score, lowest) : score;
    filled = masked_fill(filled, mask.fitted(hidden, scores.shape()), fill);
  }
  return filled;
}

}  // namespace gradus
