// AttentionMask: which keys a query may attend to, with the meaning of true said aloud.
//
// Some programs write true for "hidden", some for "visible"; a bare tensor cannot tell which. So a
// mask is made by hide_where or keep_where, or says what it is for: causal, padding. Shapes are
// named, not guessed: batch B, heads H, queries q, keys k.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"

namespace gradus {

/// A value: copies share what it is made of, which never changes.
class AttentionMask {
 public:
  /// Hides nothing.
  AttentionMask() = default;

  /// Keys are hidden where `mask` is true (or not 0). mask is (q, k), (B, q, k), or (B, H, q, k),
  /// the last with a 1 wherever it is shared. Throws ShapeError for another
  /// rank. (B, k) is not among them: it would be read as (q, k), and silently so where B equals q;
  /// see padding().
  static AttentionMask hide_where(const Tensor& mask);
  /// Keys are hidden where `mask` is false (or 0); the same shapes.
  static AttentionMask keep_where(const Tensor& mask);
  /// Query i sees keys 0 .. i + offset: with offset 0 the upper left corner is aligned, as for
  /// PyTorch's is_causal; with offset k_len - q_len the last query sees all keys, as when queries
  /// continue a sequence whose earlier keys are cached.
  static AttentionMask causal(Index q_len, Index k_len, Index offset = 0);
  /// Keys are hidden, for every query, where `hidden` (B, k) is true.
  static AttentionMask padding(const Tensor& hidden);
  /// Of k_len keys, sequence b has lengths[b] at the front; the rest is padding. Throws ValueError
  /// for a length outside 0..k_len.
  static AttentionMask padding(const std::vector<Index>& lengths, Index k_len);

  /// The same mask, with another score written where keys are hidden. The default, -inf, takes them
  /// out: a query with nothing left gets zeros. A finite fill such as -1e9 only makes them
  /// unlikely: such a query attends to all alike. Throws ValueError for NaN and +inf.
  AttentionMask with_fill(double score) const;

  /// Hidden if hidden by either. Each keeps its fill: what a padding mask only makes unlikely, a
  /// causal mask beside it still takes out. Throws ShapeError.
  friend AttentionMask operator|(const AttentionMask& a, const AttentionMask& b);

  bool hides_nothing() const { return !state_; }
  /// True where all that is hidden is taken out, by a fill of -inf, and not merely made unlikely.
  bool takes_out() const;
  /// The score written where keys are hidden; the lowest one, where there are several.
  double fill() const;

  /// The offset of the mask's causal rule, if it has one, and that was made for scores of these
  /// lengths. Throws ShapeError as hidden_for does.
  std::optional<Index> causal_offset_for(const Shape& scores) const;
  /// The mask less its causal rule, whatever lengths that was made for.
  AttentionMask without_causal() const;

  /// A bool tensor, true = hidden, that broadcasts against scores (B, H, q, k), or (B, q, k) where
  /// there is one head. The mask may share its memory: it is for reading. Throws ShapeError, naming
  /// the shapes that fit.
  Tensor hidden_for(const Tensor& scores) const { return hidden_for(scores.shape()); }
  Tensor hidden_for(const Shape& scores) const;

  /// The scores with the mask's fill where it hides keys; scores as they are where it hides
  /// nothing. Throws ShapeError as hidden_for does.
  friend Tensor masked_fill(const Tensor& scores, const AttentionMask& mask);

 private:
  struct Part;
  struct Given;
  struct State;

  explicit AttentionMask(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  AttentionMask(const Tensor& given, const Tensor& hidden);

  std::shared_ptr<const State> state_;  // null where nothing is hidden
};

Tensor masked_fill(const Tensor& scores, const AttentionMask& mask);

}  // namespace gradus
