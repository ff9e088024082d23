// Positions: what tells attention, which sees a set, that it has a sequence before it.
#pragma once

#include "layers/module.h"

namespace gradus {

struct PositionOptions {
  Index max_len;
  Index d_model;
};

/// x (..., length, d_model) plus a learned vector per position. Starts from a normal distribution
/// of deviation 0.02 (as GPT-2). Throws ShapeError for more than max_len positions.
class LearnedPositions : public Layer {
 public:
  explicit LearnedPositions(const PositionOptions& options);

  Tensor weight;  ///< (max_len, d_model)

  using Layer::operator();
  /// The same for x that starts at position `first`, as when it continues a sequence. Throws
  /// ValueError for a position that the table does not have.
  Tensor operator()(const Tensor& x, Index first) const;
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override { v("weight", weight); }
  std::string description() const override;
};

/// x (..., length, d_model) plus sines and cosines of the position: feature 2i is sin(p /
/// 10000^(2i/d)), feature 2i+1 the cosine (Vaswani et al., 2017, section 3.5). Nothing to learn or
/// to save.
class SinusoidalPositions : public Layer {
 public:
  explicit SinusoidalPositions(const PositionOptions& options);

  Tensor forward(const Tensor& x) const override;
  std::string description() const override;

 private:
  Tensor table_;  // (max_len, d_model), float64
};

}  // namespace gradus
