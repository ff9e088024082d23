// The slow reference: what every op means, a few lines each, over a dense row-major array of
// doubles. It is written to be read, shares no code with framework/ops, and knows no strides, no
// dtypes and no tape. Axes may be negative, as in the ops; wrong arguments are not looked for.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/shape.h"

namespace gradus::testing::reference {

struct Array {
  Shape shape;
  std::vector<double> values;

  Index rank() const { return shape.size(); }
  Index size(Index axis) const;
  double operator[](const Shape& place) const;
  double& operator[](const Shape& place);
};

/// Numbers along an axis, or of everything that a reduction takes together.
using Slice = std::vector<double>;
/// The value of one element, by its place.
using Element = std::function<double(const Shape& place)>;

/// All places of a shape, in row-major order.
std::vector<Shape> places(const Shape& shape);
Array make(const Shape& shape, const Element& element);
Array full(const Shape& shape, double value);
Index counted(Index axis, Index rank);

// ---- elementwise ----
Shape broadcast(const Shape& a, const Shape& b);
/// x as if it were stretched to the shape that `place` is from.
double stretched(const Array& x, const Shape& place);
Array map(const Array& x, const std::function<double(double)>& f);
Array combine(const Array& x, const Array& y, const std::function<double(double, double)>& f);
Array where(const Array& condition, const Array& a, const Array& b);

// ---- views ----
Array reshape(const Array& x, const Shape& shape);
Array permute(const Array& x, const Axes& axes);
Array transpose(const Array& x, Index axis0, Index axis1);
Array movedim(const Array& x, Index source, Index destination);
Array expand(const Array& x, const Shape& shape);
/// The elements start, start + step, ... below end; bounds as in Python.
Array slice(const Array& x, Index axis, Index start, Index end, Index step);
Array select(const Array& x, Index axis, Index index);
Array cat(const std::vector<Array>& parts, Index axis);
Array stack(const std::vector<Array>& parts, Index axis);
Array repeat(const Array& x, const Shape& repeats);
Array flip(const Array& x, const Axes& axes);
/// x where wanted(column - row) in the last two axes, else 0.
Array band(const Array& x, const std::function<bool(Index distance)>& wanted);

// ---- over axes ----
/// f of everything along the axes; no axes stand for all of them.
Array reduce(const Array& x, const Axes& axes, bool keepdim,
             const std::function<double(const Slice&)>& f);
/// f of every slice along the axis, which may become longer or shorter.
Array along(const Array& x, Index axis, const std::function<Slice(const Slice&)>& f);

double sum(const Slice& x);
double mean(const Slice& x);
double product(const Slice& x);
double variance(const Slice& x, double correction);
double norm(const Slice& x, double p);
double logsumexp(const Slice& x);
/// The first position of the best element; NaN is better than all others.
Index best(const Slice& x, bool largest);
/// The k best positions; NaN is the largest number.
std::vector<Index> best_of(const Slice& x, Index k, bool largest);
Slice cumsum(const Slice& x);
Slice softmax(const Slice& x);
Slice log_softmax(const Slice& x);

// ---- products ----
Array matmul(const Array& x, const Array& y);
/// Both terms and the result spelled out in letters: "ij,jk->ik".
Array einsum(const std::string& equation, const std::vector<Array>& operands);

// ---- by index ----
Array gather(const Array& x, Index axis, const Array& index);
Array scatter_add(const Array& x, Index axis, const Array& index, const Array& source);
Array index_select(const Array& x, Index axis, const Array& index);
Array embedding(const Array& indices, const Array& weight);
Array one_hot(const Array& index, Index classes);

// ---- normalisation, positions ----
/// Over the last `axes` axes together.
Array layer_norm(const Array& x, Index axes, double eps);
Array rms_norm(const Array& x, Index axes, double eps);
/// The pair (a, b) = (x[i], x[i + d/2]), or (x[2i], x[2i + 1]), turned by an angle.
Array rotary(const Array& x, const Array& cos, const Array& sin, bool interleaved);

// ---- losses: one number per item ----
/// Minus the sum over the classes of weight * probability * log_probability.
Array soft_nll(const Array& log_probability, const Array& probability, const Array& weight);
/// The probabilities of a target of labels: 1 at the label, less a share spread over all classes;
/// 0 throughout where the label is `ignored`.
Array label_distribution(const Array& target, const Shape& shape, Index ignored, double smoothing);
/// Of each item; 0 where ignored.
Array weight_of_items(const Array& target, const Array& weight, Index ignored);

// ---- attention ----
struct Attention {
  double scale = 1.0;
  /// The score of a hidden key; nothing for a visible one.
  std::function<std::optional<double>(Index batch, Index head, Index query, Index key)> fill{};
};
/// query (B, H, q, d), key (B, G, k, d), value (B, G, k, e); H is a multiple of G.
Array attention(const Array& query, const Array& key, const Array& value, const Attention& how);

}  // namespace gradus::testing::reference
