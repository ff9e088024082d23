#include "layers/positional_encoding.h"

#include <cmath>

#include "framework/ops/checks.h"
#include "framework/ops/creation.h"
#include "framework/ops/random.h"

namespace gradus {
namespace {

/// As many rows of the table as x has positions.
Tensor rows_for(const char* layer, const Tensor& x, const Tensor& table, Index first = 0) {
  check_floating(layer, x);
  if (first < 0 || first > table.size(0)) {
    throw ValueError(text(layer, ": position ", first, " is outside 0..", table.size(0)));
  }
  const Index room = table.size(0) - first;
  if (x.dim() < 2 || x.size(-1) != table.size(1) || x.size(-2) > room) {
    throw ShapeError(
        text(layer, ": x does not fit the table of positions"),
        {.got = text("x ", described(x), first > 0 ? text(" from position ", first) : ""),
         .need = text("(..., up to ", room, ", ", table.size(1), ")")});
  }
  return table.slice(0, first, first + x.size(-2));
}

Tensor sines_and_cosines(Index positions, Index width) {
  Tensor table({positions, width}, float64);
  if (table.numel() == 0) return table;  // however many positions of no width
  auto* value = table.mutable_data<double>();
  for (Index p = 0; p < positions; ++p) {
    for (Index feature = 0; feature < width; ++feature) {
      const double pair = static_cast<double>(feature / 2 * 2) / static_cast<double>(width);
      const double angle = static_cast<double>(p) / std::pow(10000.0, pair);
      *value++ = feature % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return table;
}

}  // namespace

LearnedPositions::LearnedPositions(const PositionOptions& options)
    : weight(randn({options.max_len, options.d_model})) {
  weight.mul_(0.02).requires_grad_();
}

Tensor LearnedPositions::operator()(const Tensor& x, Index first) const {
  const ModuleScope scope(*this);
  return x + rows_for("LearnedPositions", x, weight, first);
}

Tensor LearnedPositions::forward(const Tensor& x) const {
  return x + rows_for("LearnedPositions", x, weight);
}

std::string LearnedPositions::description() const {
  return text("LearnedPositions(", weight.size(0), ", ", weight.size(1), ")");
}

SinusoidalPositions::SinusoidalPositions(const PositionOptions& options)
    : table_(sines_and_cosines(options.max_len, options.d_model)) {}

Tensor SinusoidalPositions::forward(const Tensor& x) const {
  return x + rows_for("SinusoidalPositions", x, table_).to(x.dtype());
}

std::string SinusoidalPositions::description() const {
  return text("SinusoidalPositions(", table_.size(0), ", ", table_.size(1), ")");
}

}  // namespace gradus
