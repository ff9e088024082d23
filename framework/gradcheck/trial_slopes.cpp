// How a Trial takes slopes: by each element of a small input, along random directions of a large
// one.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/core/random.h"
#include "framework/gradcheck/trial_internal.h"

namespace gradus::checking {
namespace {

constexpr Index kMostDraws = 4;  // of a direction, until one meets no kink

/// A random direction of length 1 in the elements that may move.
Numbers random_direction(const std::vector<bool>& moves, Generator& generator) {
  Numbers direction(moves.size());
  generator.fill_uniform(direction, -1.0, 1.0);
  double squares = 0.0;
  for (std::size_t i = 0; i < direction.size(); ++i) {
    const double away = direction[i] < 0.0 ? -0.5 : 0.5;
    direction[i] = moves[i] ? direction[i] + away : 0.0;
    squares += direction[i] * direction[i];
  }
  for (double& part : direction) part /= std::sqrt(squares);
  return direction;
}

/// The sum of the products, leaving out what does not move.
double along(const Numbers& gradient, const Numbers& direction) {
  double sum = 0.0;
  for (std::size_t i = 0; i < direction.size(); ++i) {
    if (direction[i] != 0.0) sum += gradient[i] * direction[i];
  }
  return sum;
}

double root_mean_square(const Numbers& numbers, const std::vector<bool>& counts) {
  double squares = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!counts[i]) continue;
    squares += numbers[i] * numbers[i];
    count += 1.0;
  }
  return count > 0.0 ? std::sqrt(squares / count) : 0.0;
}

}  // namespace

/// The outputs where `move` has put the inputs, two steps to either side of `start`.
template <class Move>
Neighbourhood Trial::around(double start, double step, Move move) {
  Neighbourhood near;
  for (std::size_t i = 0; i < 5; ++i) {
    near.x[i] = start + (static_cast<double>(i) - 2.0) * step;
    if (i == 2) {
      near.values[i] = base_;
      continue;
    }
    move(near.x[i]);
    ++report_.evaluations;
    const std::vector<Tensor> outputs = floating(function_(arguments_));
    check_sizes(outputs);
    near.values[i] = numbers_of(outputs);
  }
  move(start);
  return near;
}

Neighbourhood Trial::around_element(Variable& variable, std::size_t element) {
  const Index position = variable.positions[element];
  const double x = variable.leaf.data<double>()[position];
  const auto move = [&](double to) { variable.leaf.mutable_data<double>()[position] = to; };
  if (options_.step > 0.0) return around(x, options_.step, move);
  const double size = std::abs(x);
  Neighbourhood near = around(x, kRelativeStep * std::max(1.0, size), move);
  if (size > 0.0 && size < 1.0 && left_the_domain(near))
    near = around(x, kRelativeStep * size, move);
  return near;
}

std::vector<Pair> Trial::pairs_by_element(Variable& variable, const Numbers& gradient) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    Pair pair{.analytic = gradient[i]};
    const double x = variable.leaf.data<double>()[variable.positions[i]];
    pair.slope.frozen = variable.frozen[i];
    // From -inf, say, no step leads away.
    if (!variable.frozen[i] && std::isfinite(x)) {
      pair.slope = extrapolated(around_element(variable, i), weights_);
    }
    pairs.push_back(pair);
  }
  return pairs;
}

/// Nothing where there is a kink within the steps: many elements move, so some pass one by chance.
std::optional<Slope> Trial::slope_along(Variable& variable, const Direction& direction,
                                        double limit) {
  const Numbers start = numbers_of({variable.leaf});
  std::vector<bool> moves;
  for (const double part : direction) moves.push_back(part != 0.0);
  const double step = options_.step > 0.0
                          ? options_.step
                          : kRelativeStep * std::max(1.0, root_mean_square(start, moves));
  const auto move = [&](double to) {
    double* data = variable.leaf.mutable_data<double>();
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (moves[i])
        data[variable.positions[i]] = to == 0.0 ? start[i] : start[i] + to * direction[i];
    }
  };
  const Slope slope = extrapolated(around(0.0, step, move), weights_);
  const double allowed = limit + options_.rtol * std::abs(slope.value);
  if (std::isfinite(slope.value) && slope.jump > allowed) return std::nullopt;
  return slope;
}

std::vector<Pair> Trial::pairs_by_direction(GradcheckInput& row, Variable& variable,
                                            const Numbers& gradient) {
  std::vector<bool> moves;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double x = variable.leaf.data<double>()[variable.positions[i]];
    moves.push_back(!variable.frozen[i] && std::isfinite(x));
  }
  std::vector<Pair> pairs;
  Generator generator(options_.seed + 1000 + variable.number);
  Index draws = 0;
  const bool can_move = std::ranges::count(moves, true) > 0;
  for (; can_move && draws < kMostDraws * options_.directions; ++draws) {
    if (static_cast<Index>(pairs.size()) == options_.directions) break;
    const Direction direction = random_direction(moves, generator);
    const std::optional<Slope> slope =
        slope_along(variable, direction, options_.atol + row.rounding);
    if (slope) pairs.push_back({along(gradient, direction), *slope});
  }
  row.directions = static_cast<Index>(pairs.size());
  const Index kinks = draws - row.directions;
  if (can_move && row.directions < options_.directions) {
    fail(text(row.name, " cannot be checked along random directions"),
         {.got = text(kinks, " of ", draws, " meet a kink"),
          .hint = text("{.max_elements = ", gradient.size(), "} checks it element by element")});
  }
  return pairs;
}

Trial::Examined Trial::examine(Variable& variable, const Tensor& gradient, bool connected) {
  Examined examined{.row = row_for(variable.number, variable.leaf.shape()), .pairs = {}};
  GradcheckInput& row = examined.row;
  row.rounding = rounding_;
  row.analytic = gradient;
  row.checked = std::ranges::count(variable.frozen, false);
  const Numbers analytic = gradient.to_vector<double>();
  std::vector<std::size_t> elements(analytic.size());
  std::iota(elements.begin(), elements.end(), std::size_t{0});
  if (gradient.numel() <= options_.max_elements) {
    examined.pairs = pairs_by_element(variable, analytic);
    row.numeric = Tensor(row.shape, float64);
    std::ranges::transform(examined.pairs, row.numeric.mutable_data<double>(),
                           [](const Pair& pair) { return pair.slope.value; });
  } else {
    examined.pairs = pairs_by_direction(row, variable, analytic);
    std::erase_if(elements, [&](std::size_t i) {
      return !variable.frozen[i] &&
             std::isfinite(variable.leaf.data<double>()[variable.positions[i]]);
    });
    for (const std::size_t i : elements) {
      examined.pairs.push_back({analytic[i], Slope{.frozen = variable.frozen[i]}});
    }
  }
  compare(row, examined.pairs, elements, options_);
  comment(row, connected);
  return examined;
}

}  // namespace gradus::checking
