#include "framework/ops/attention_mask.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>

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

constexpr double kTakesOut = -std::numeric_limits<double>::infinity();

/// Query i sees keys 0 .. i + offset.
struct CausalRule {
  Index q_len;
  Index k_len;
  Index offset;

  Shape shape() const { return {1, 1, q_len, k_len}; }
  Tensor hidden() const {
    const Tensor query = arange(static_cast<double>(q_len)).unsqueeze(1);
    const Tensor key = arange(static_cast<double>(k_len)).unsqueeze(0);
    return with_four_axes(gt(key, query + static_cast<double>(offset)));
  }
};

}  // namespace

struct AttentionMask::Part {
  Tensor hidden;  // bool, (B or 1, H or 1, q or 1, k or 1)
  double fill = kTakesOut;
};

/// A tensor as the caller gave it, for errors.
struct AttentionMask::Given {
  Shape shape;
  DType dtype;
};

struct AttentionMask::State {
  // from the highest fill to the lowest, which is written last
  std::vector<Part, BlockAllocator<Part>> parts;
  std::optional<CausalRule> causal;  // which takes out
  std::vector<Given, BlockAllocator<Given>> given;

  static std::shared_ptr<State> make(const State* from = nullptr);
  void add(const Part& part);
  void add(const CausalRule& rule);
  Tensor fitted(const Tensor& hidden, const Shape& scores) const;
  void check_fits(const Shape& hidden, const Shape& scores) const;

  /// Calls each(hidden, fill), in the order in which fills are written.
  template <class Each>
  void for_each_part(Each each) const {
    for (const Part& part : parts) each(part.hidden, part.fill);
    if (causal) each(causal_hidden(), kTakesOut);
  }
  /// The rule as a tensor, made when it is first needed.
  const Tensor& causal_hidden() const {
    std::call_once(causal_made_, [this] { causal_hidden_ = causal->hidden(); });
    return causal_hidden_;
  }

 private:
  void check_broadcasts(const Shape& hidden) const;

  mutable std::once_flag causal_made_;
  mutable Tensor causal_hidden_;
};

std::shared_ptr<AttentionMask::State> AttentionMask::State::make(const State* from) {
  auto state = std::allocate_shared<State>(BlockAllocator<State>());
  if (from) {
    state->parts = from->parts;
    state->causal = from->causal;
    state->given = from->given;
  }
  return state;
}

AttentionMask::AttentionMask(const Tensor& given, const Tensor& hidden) {
  const auto state = State::make();
  state->parts = {{hidden}};
  state->given = {{given.shape(), given.dtype()}};
  state_ = state;
}

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
  const auto state = State::make();
  state->causal = {q_len, k_len, std::clamp(offset, -q_len, k_len)};  // beyond, nothing changes
  state->given = {{Shape{q_len, k_len}, boolean}};
  return AttentionMask(state);
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
  if (hides_nothing()) return {};
  const auto state = State::make();
  state->given = state_->given;
  for (const Part& part : state_->parts) state->add({part.hidden, score});
  if (state_->causal && score == kTakesOut) {
    state->add(*state_->causal);
  } else if (state_->causal) {
    state->add({state_->causal_hidden(), score});
  }
  return AttentionMask(state);
}

bool AttentionMask::takes_out() const {
  return hides_nothing() || std::all_of(state_->parts.begin(), state_->parts.end(),
                                        [](const Part& part) { return part.fill == kTakesOut; });
}

double AttentionMask::fill() const {
  return hides_nothing() || state_->causal ? kTakesOut : state_->parts.back().fill;
}

std::optional<Index> AttentionMask::causal_offset_for(const Shape& scores) const {
  if (hides_nothing() || !state_->causal) return std::nullopt;
  const auto& [q_len, k_len, offset] = *state_->causal;
  state_->check_fits(state_->causal->shape(), scores);
  const bool same = q_len == scores[scores.size() - 2] && k_len == scores.back();
  return same ? std::optional(offset) : std::nullopt;
}

AttentionMask AttentionMask::without_causal() const {
  if (hides_nothing() || !state_->causal) return *this;
  if (state_->parts.empty()) return {};
  const auto state = State::make(state_.get());
  state->causal.reset();
  return AttentionMask(state);
}

AttentionMask operator|(const AttentionMask& a, const AttentionMask& b) {
  if (a.hides_nothing() || b.hides_nothing()) return a.hides_nothing() ? b : a;
  const auto both = AttentionMask::State::make(a.state_.get());
  for (const AttentionMask::Part& part : b.state_->parts) both->add(part);
  if (b.state_->causal) both->add(*b.state_->causal);
  const auto& given = b.state_->given;
  both->given.insert(both->given.end(), given.begin(), given.end());
  return AttentionMask(both);
}

void AttentionMask::State::add(const Part& part) {
  check_broadcasts(part.hidden.shape());
  const auto place = std::find_if(parts.begin(), parts.end(),
                                  [&](const Part& known) { return known.fill <= part.fill; });
  if (place != parts.end() && place->fill == part.fill) {
    place->hidden = logical_or(place->hidden, part.hidden);
  } else {
    parts.insert(place, part);
  }
}

void AttentionMask::State::add(const CausalRule& rule) {
  check_broadcasts(rule.shape());
  if (!causal) {
    causal = rule;
  } else if (causal->shape() == rule.shape()) {
    causal->offset = std::min(causal->offset, rule.offset);
  } else {
    add({rule.hidden(), kTakesOut});
  }
}

void AttentionMask::State::check_broadcasts(const Shape& hidden) const {
  for (const Part& known : parts) broadcast_shape("attention mask", known.hidden.shape(), hidden);
  if (causal) broadcast_shape("attention mask", causal->shape(), hidden);
}

Tensor AttentionMask::hidden_for(const Shape& scores) const {
  if (hides_nothing()) return zeros(Shape::filled(scores.size(), 1), boolean);
  Tensor all;
  state_->for_each_part([&](const Tensor& hidden, double /*fill*/) {
    const Tensor own = state_->fitted(hidden, scores);
    all = all.defined() ? logical_or(all, own) : own;
  });
  return all;
}

void AttentionMask::State::check_fits(const Shape& hidden, const Shape& scores) const {
  Shape four = scores;
  if (scores.size() == 3) four = {scores[0], 1, scores[1], scores[2]};
  bool fits = four.size() == 4;
  for (Index axis = 0; axis < 4 && fits; ++axis) {
    fits = hidden[axis] == four[axis] || hidden[axis] == 1;
  }
  if (fits) return;
  std::string mask;
  for (const Given& each : given) {
    mask += text(mask.empty() ? "" : " | ", each.shape, " ", each.dtype);
  }
  throw ShapeError(
      "attention: the mask does not fit the scores",
      {.got = text("mask ", mask, "; scores would be ", four, ": batch, head, query, key"),
       .need = "(q,k), (B,q,k), (B,1,q,k) or (B,H,q,k)",
       .hint = "a (batch, key) mask marks padding: AttentionMask::padding(mask)"});
}

Tensor AttentionMask::State::fitted(const Tensor& hidden, const Shape& scores) const {
  check_fits(hidden.shape(), scores);
  return scores.size() == 3 ? hidden.squeeze(1) : hidden;
}

Tensor masked_fill(const Tensor& scores, const AttentionMask& mask) {
  // A finite fill stays finite in float32, too: it makes keys unlikely, and does not take them out.
  const double lowest = scores.dtype() == float32 ? double{std::numeric_limits<float>::lowest()}
                                                  : std::numeric_limits<double>::lowest();
  Tensor filled = scores;
  if (mask.hides_nothing()) return filled;
  mask.state_->for_each_part([&](const Tensor& hidden, double score) {
    const double fill = std::isfinite(score) ? std::max(score, lowest) : score;
    filled = masked_fill(filled, mask.state_->fitted(hidden, scores.shape()), fill);
  });
  return filled;
}

}  // namespace gradus
